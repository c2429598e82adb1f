"""sushy-emulator with its fake systems, adapted for tests. Differences from the original:

- A power change takes POWER_DELAY seconds, where the fake driver takes a random 1 to 11.
- Changes of a system are serialized: the driver reads, changes and writes back, and concurrent requests would lose one.
- Every change of a system or its drive is recorded as a line of JSON in the file HISTORY, for tests.

usage: emulator.py --config FILE, with POWER_DELAY and HISTORY in that file.
"""

import json
import sys
import threading
import time
import types

from sushy_tools.emulator import main
from sushy_tools.emulator.resources import vmedia
from sushy_tools.emulator.resources.systems import fakedriver

one_at_a_time = threading.RLock()
setting = main.app.config


def note(system, what, **more):
    line = json.dumps({'at': int(time.time() * 1000), 'system': system, 'what': what, **more})
    with one_at_a_time, open(setting['HISTORY'], 'a') as history:
        history.write(line + '\n')


def locked(function):
    def call(*args, **more):
        with one_at_a_time:
            return function(*args, **more)

    return call


def noting_power(set_power_state):
    def call(driver, identity, state):
        set_power_state(driver, identity, state)
        note(identity, 'power', value=state)

    return call


def noting_insert(insert_image):
    def call(driver, identity, device, image_url, *args, **more):
        try:
            path = insert_image(driver, identity, device, image_url, *args, **more)
        except Exception as failure:
            note(identity, 'insert failed', device=device, value=image_url, error=str(failure))
            raise
        note(identity, 'insert', device=device, value=image_url, path=path)
        return path

    return call


def noting_eject(eject_image):
    def call(driver, identity, device):
        held = driver._get_device(identity, device).get('Image', '')
        eject_image(driver, identity, device)
        note(identity, 'eject', device=device, value=held)

    return call


# The driver adds this to the current second.
fakedriver.random = types.SimpleNamespace(randint=lambda low, high: time.time() % 1 + setting['POWER_DELAY'])

fake = fakedriver.FakeDriver
fake.set_power_state = noting_power(fake.set_power_state)
for name in ('_get', '_update', 'set_power_state', 'set_boot_image', 'set_boot_device', 'set_boot_mode'):
    setattr(fake, name, locked(getattr(fake, name)))

drive = vmedia.StaticDriver
drive.insert_image = noting_insert(drive.insert_image)
drive.eject_image = noting_eject(drive.eject_image)

if __name__ == '__main__':
    sys.exit(main.main())
