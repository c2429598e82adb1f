import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { silentProgress } from '../controlplane/progress.ts';
import { startRedfishEmulator, type EmulatedSystem, type RunningEmulator } from './emulator.ts';
import { resolveIronic } from './environment.ts';
import { startIronic } from './ironic.ts';
import { buildIso } from './iso.ts';
import { startIsoServer, type IsoServer } from './iso-server.ts';
import { isIronicMissing } from './missing.ts';

describe.skipIf(await isIronicMissing())('a BMC for tests', () => {
  const notes: string[] = [];
  let bmc: RunningEmulator;
  let isos: IsoServer;
  let host: EmulatedSystem;
  beforeAll(async () => {
    const progress = { ...silentProgress, note: (line: string) => notes.push(line) };
    bmc = await startRedfishEmulator({ systems: ['a', 'b'], progress });
    isos = await startIsoServer();
    [host] = bmc.systems as [EmulatedSystem];
  });
  afterAll(async () => {
    await bmc?.stop();
    await isos?.stop();
  });

  it('reports that its machines are faster than the emulator’s default', () => {
    expect(notes.join('\n')).toMatch(/power changes take 200 ms instead of a random 1 to 11 s/);
  });

  it('powers machines, stores the exact bytes of an ISO, and keeps both across a restart', async () => {
    expect(await bmc.powerState(host)).toBe('Off');
    await bmc.reset(host, 'On');
    await expect.poll(() => bmc.powerState(host)).toBe('On');
    const iso = buildIso('hello');
    const image = isos.put('a.iso', iso);
    await bmc.insert(host, image);
    await expect(bmc.insert(host, `${image}.not-there`)).rejects.toThrow(/404/);
    await bmc.kill();
    await expect(bmc.powerState(host)).rejects.toThrow(/fetch failed|terminated/);
    await bmc.start();
    expect(await bmc.powerState(host)).toBe('On');
    expect(await bmc.held(host)).toEqual({ image, sha256: createHash('sha256').update(iso).digest('hex') });
    expect((await bmc.history(host)).map(({ what, value }) => [what, value])).toEqual([
      ['power', 'On'],
      ['insert', image],
      ['insert failed', `${image}.not-there`],
    ]);
    const [, other] = bmc.systems as [EmulatedSystem, EmulatedSystem];
    expect([await bmc.held(other), await bmc.history(other)]).toEqual([null, []]);
  });

  it('requires its password, even after a change', async () => {
    const login = (password: string) => ({
      authorization: `Basic ${Buffer.from(`admin:${password}`).toString('base64')}`,
    });
    const statusWith = async (password: string) =>
      (await fetch(`${bmc.url}${host.path}`, { headers: login(password) })).status;
    expect(await statusWith('wrong')).toBe(401);
    expect(await statusWith('password')).toBe(200);
    await bmc.setCredentials({ username: 'admin', password: 'new' });
    expect(await statusWith('password')).toBe(401);
    expect(await bmc.powerState(host)).toBe('On');
  });

  it('or an Ironic that cannot start reports why', async () => {
    const program = { ...(await resolveIronic()), python: '/nowhere/python', emptyDatabase: '/nowhere/empty' };
    await expect(startIronic({ program })).rejects.toMatchObject({
      code: 'SLW_TOOLS_START_FAILED',
      message: expect.stringContaining('ENOENT'),
    });
    await expect(startRedfishEmulator({ systems: 1, program, progress: silentProgress })).rejects.toMatchObject({
      code: 'SLW_TOOLS_START_FAILED',
      message: expect.stringContaining('ENOENT'),
    });
  });
});
