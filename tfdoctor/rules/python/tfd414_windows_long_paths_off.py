"""TFD414 windows-long-paths-off."""

from __future__ import annotations

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Found, LogMatch, Severity
from tfdoctor.rules._log import line


@rule("TFD414", Severity.ERROR)
def windows_long_paths_off(log: LogMatch) -> Found:
    """Windows refuses paths longer than 260 characters, and some files of TensorFlow have longer ones in this folder.

    ## What it is
    TensorFlow's header files lie deep below `site-packages`. Unless long paths are switched on, Windows says of a path with more than
    260 characters that there is no such file, and pip stops half way. The Python of the Microsoft Store begins with a long path.

    ## How it shows
    - `Could not install packages due to an OSError: [Errno 2] No such file or directory: '…\\\\site-packages\\\\tensorflow\\\\include\\\\…'`
    - `HINT: This error might have occurred since this system does not have Windows Long Path support enabled.`
    - `[WinError 206] The filename or extension is too long`

    ## How to be sure
    The path in the message has more than 260 characters;
    `reg query HKLM\\SYSTEM\\CurrentControlSet\\Control\\FileSystem /v LongPathsEnabled` shows 0.

    ## What to do
    - Windows: as administrator `reg add HKLM\\SYSTEM\\CurrentControlSet\\Control\\FileSystem /v LongPathsEnabled /t REG_DWORD /d 1 /f`, start
      again, install again.
    - Without these rights: a virtual environment in a short folder (`C:\\tf`), and Python from its own installer instead of the Store.
    - Linux, WSL2, macOS, Docker, Kubernetes, Slurm: does not arise.

    ## References
    - https://github.com/tensorflow/tensorflow/issues/25692
    - https://github.com/tensorflow/tensorflow/issues/35935
    - https://learn.microsoft.com/en-us/windows/win32/fileio/maximum-file-path-limitation
    """
    return Diagnosis(
        _("Windows took no path of more than 260 characters, which files of TensorFlow have in this folder."),
        evidence=(line(log),),
        fixes=(remedies.by_hand(_("Switch long paths on in Windows, or install into a short folder")),),
    )
