import { isIronicMissing, buildIso } from '@slipway/tools/ironic';
import { describe, expect, it } from 'vitest';
import { startRealIronic } from './testing/real-ironic.ts';

const missing = await isIronicMissing();

describe.skipIf(missing)('an outage', () => {
  it('releases the lock of an Ironic that is killed during an attach, and a BMC that is down is distinguished from an empty drive', async () => {
    await using real = await startRealIronic(['killed']);
    const uuid = await real.adopted('killed');
    const url = real.isos.put('killed.iso', buildIso('for the killed'));
    real.isos.fail('killed.iso', 'hang');
    await real.ironic.attach(uuid, url);
    await expect.poll(() => real.isos.seen).toContain('GET /killed.iso');
    await real.running.kill();
    await expect(real.ironic.node(uuid)).rejects.toMatchObject({
      code: expect.stringMatching(/SLW_IRONIC_(UNREACHABLE|CUT)/),
    });
    real.isos.fail('killed.iso', undefined);
    await real.running.start();
    await real.nodeWhen('killed');
    expect(await real.ironic.drive(uuid)).toEqual({ inserted: false, image: '' });
    await real.bmc.kill();
    await expect(real.ironic.drive(uuid)).rejects.toMatchObject({
      code: 'SLW_IRONIC_SERVER',
      message: expect.stringContaining('Unable to connect'),
    });
    await real.bmc.start();
    expect(await real.ironic.drive(uuid)).toEqual({ inserted: false, image: '' });
  });
});
