"""The one door to a machine: the live one, or one recorded in a folder."""

from tfdoctor.host.base import CAPTURES, MOST_TEXT, RECORDING_SCHEMA, Host, Space, Stat
from tfdoctor.host.live import TIME_LIMIT, LiveHost
from tfdoctor.host.recorded import RecordedHost

__all__ = [
    "CAPTURES",
    "MOST_TEXT",
    "RECORDING_SCHEMA",
    "TIME_LIMIT",
    "Host",
    "LiveHost",
    "RecordedHost",
    "Space",
    "Stat",
]
