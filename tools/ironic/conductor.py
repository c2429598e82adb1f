"""Ironic with API and conductor in one process, adapted for tests. Differences from the original:

- At every access to a BMC, Ironic hashes its password 600,000 times to find the open session: half a second of CPU. Here
  the hash of the same password for the same BMC is computed once.

usage: conductor.py --config-file FILE
"""

import functools
import hashlib
import sys

hashlib.pbkdf2_hmac = functools.lru_cache(maxsize=1024)(hashlib.pbkdf2_hmac)

from ironic.command import singleprocess  # noqa: E402

if __name__ == '__main__':
    sys.exit(singleprocess.main())
