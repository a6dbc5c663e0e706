"""The distributions on the search path, by their metadata."""

import os

from .reading import listed, text_of


def distributions(path: "list[str]", leftovers: "list[str]") -> "list[dict[str, object]]":
    """Every distribution on the path, in the order in which it would be found. Leftovers of broken removals go into `leftovers`."""
    found = []
    seen = set()
    for location in path:
        real = os.path.realpath(location)
        if real in seen or not os.path.isdir(location):
            continue
        seen.add(real)
        names = listed(location)
        infos = [n for n in names if n.endswith((".dist-info", ".egg-info"))]
        leftovers.extend(os.path.join(location, n) for n in infos if n.startswith("~"))
        here = [distribution(location, n) for n in infos if not n.startswith("~")]
        if location.endswith(".egg") and "EGG-INFO" in names:
            here.append(distribution(location, "EGG-INFO"))
        found += newest_first(here)
    return found


def newest_first(here: "list[dict[str, object]]") -> "list[dict[str, object]]":
    """Distributions of one folder; where a name is there twice, the one installed last comes first: its files are on disk."""
    names = [d["name"] for d in here]
    if len(set(names)) == len(names):
        return here

    def installed(entry: "dict[str, object]") -> "float":
        try:
            return -os.path.getmtime(str(entry["info"]))
        except OSError:
            return 0.0

    return sorted(here, key=lambda d: (str(d["name"]), installed(d)))


def distribution(location: "str", folder: "str") -> "dict[str, object]":
    """One .dist-info or .egg-info (a folder, or a file of old distutils)."""
    info = os.path.join(location, folder)
    stem = folder.rpartition(".")[0]
    guess_name, _dash, guess_version = stem.partition("-")
    out = {
        "name": canonical(guess_name),
        "version": guess_version.partition("-py")[0],
        "location": location,
        "info": info,
    }  # type: dict[str, object]
    out.update(requires=[], installer="", problem="")
    metadata = os.path.join(info, "METADATA" if folder.endswith(".dist-info") else "PKG-INFO")
    text = text_of(info if os.path.isfile(info) else metadata)
    if text is None:
        out["problem"] = "no " + os.path.basename(metadata) if os.path.isdir(info) else "not readable"
        return out
    fields = headers(text)
    out["requires"] = fields.get("requires-dist", [])
    for key in ("name", "version"):
        value = fields.get(key, [""])[0]
        if value:
            out[key] = canonical(value) if key == "name" else value
        else:
            out["problem"] = f"no {key.capitalize()} in {os.path.basename(metadata)}"
    out["installer"] = (text_of(os.path.join(info, "INSTALLER"), 100) or "").strip()
    return out


def headers(text: "str") -> "dict[str, list[str]]":
    """The header of an RFC 822 text: lower-case name to its values. The body after the first empty line is not looked at."""
    out = {}  # type: dict[str, list[str]]
    last = ""
    for line in text.splitlines():
        if not line.strip():
            break
        if line[0] in " \t":
            if last:
                out[last][-1] += " " + line.strip()
            continue
        name, colon, value = line.partition(":")
        if not colon:
            continue
        last = name.strip().lower()
        out.setdefault(last, []).append(value.strip())
    return out


def canonical(name: "str") -> "str":
    """The name of a distribution as PEP 503 writes it."""
    out = name.lower().replace("_", "-").replace(".", "-")
    while "--" in out:
        out = out.replace("--", "-")
    return out
