import { driftPolicyAnnotation, machineConfigPools, machineConfigs, machineConfigurations } from '@slipway/api';
import { until } from '@slipway/testing/wait';
import { pickFreePort } from '@slipway/tools/controlplane';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { startFleet, type Fleet } from './first-boot/fleet.ts';
import { provisionMachine, probesConfig } from './node/machine.ts';
import { webConfig, webPolicy, type WebConfig } from './node/web-config.ts';
import { createWorker, type Worker } from './node/worker.ts';

// The whole way of a machine: born by the real Ignition from our server, then brought from config to config by the daemon,
// a unit of its own systemd. Its pool is paused, so that the test says what a rollout would; rollout-journey has the whole of it.
const { parts } = inject('nodes');
const ignition = inject('ignitionClients').find(({ name }) => name === '2.24')?.client;
const DAEMON = 'machine-config-daemon.service';
const UPDATE = '/etc/machine-config-daemon/update';
const MESSAGE = '/etc/web/message';

describe.skipIf(parts === undefined || ignition === undefined)('a machine with a real systemd', () => {
  let fleet: Fleet;
  let worker: Worker;
  /** What the machine is at, for the test that changes a part of it. */
  let web: WebConfig = { message: 'first' };
  const times: string[] = [];
  /** In MB, after each test: a kill, a power cut or a reboot ends the daemon, and its peak is gone with it. */
  const peaks: number[] = [];

  const measured = async <T>(what: string, work: () => Promise<T>): Promise<T> => {
    const started = performance.now();
    const result = await work();
    times.push(`${what} ${((performance.now() - started) / 1000).toFixed(2)} s`);
    return result;
  };
  /** The rendered config with this; the machine is not told of it. */
  const render = async (change: Partial<WebConfig>): Promise<string> => {
    web = { ...web, ...change };
    const before = (await fleet.rendered('worker', [])).metadata.name;
    const body = { spec: { config: webConfig(web) } };
    await fleet.client.patch(machineConfigs, { name: '50-web' }, { type: 'merge', body }, {});
    return fleet.renderedOtherThan('worker', before);
  };
  const annotatePolicy = async (value: string | null): Promise<void> => {
    const body = { metadata: { annotations: { [driftPolicyAnnotation]: value } } };
    await fleet.client.patch(machineConfigurations, { name: 'cluster' }, { type: 'merge', body }, {});
  };

  beforeAll(async () => {
    if (parts === undefined || ignition === undefined) return;
    fleet = await startFleet();
    await fleet.client.create(machineConfigurations, {
      metadata: { name: 'cluster' },
      spec: { managementState: 'Managed', nodeDisruptionPolicy: webPolicy },
    });
    const paused = { type: 'merge', body: { spec: { paused: true } } } as const;
    await until(() => fleet.client.patch(machineConfigPools, { name: 'worker' }, paused, {}));
    await fleet.addMachineConfig('40-probes', 'worker', probesConfig(await pickFreePort()));
    await fleet.addMachineConfig('50-web', 'worker', webConfig(web));
    await fleet.rendered('worker', ['00-worker', '40-probes', '50-web']);
    worker = createWorker(fleet, await provisionMachine({ name: 'worker-1', fleet, parts, ignition }));
  }, 120_000);
  afterEach(async ({ task }) => {
    if (task.result?.state === 'fail') console.error(await worker.journal().catch(String), worker.node.console());
    else peaks.push((await worker.readDaemonPeak()) ?? 0);
  });
  afterAll(async () => {
    if (times.length > 0) console.log(`a real node: ${times.join(', ')}`);
    await worker?.node.stop();
    await fleet?.stop();
  }, 60_000);

  it('is born: Ignition wrote its disk, the first boot was finished, and the daemon reports', async () => {
    const { name: config } = (await fleet.rendered('worker', ['50-web'])).metadata;
    await measured('boot', () => worker.node.boot());
    await worker.aim(config);
    await measured('first report', () => worker.done(config));
    expect(worker.exists('/etc/ignition-machine-config-encapsulated.json')).toBe(false);
    expect(await worker.node.sh(`systemctl is-active web.service ${DAEMON}; cat /run/web`)).toBe(
      'active\nactive\nfirst\n',
    );
  });

  it('takes a change of a file and of a unit without a reboot, as the policy says', async () => {
    const [boot, pid] = [await worker.node.bootId(), await worker.pidOf('web.service')];
    const config = await render({ message: 'second', description: 'a new one' });
    await worker.aim(config);
    await measured('file and unit', () => worker.done(config));
    expect(await worker.node.sh('cat /run/web; systemctl show -P Description web.service')).toBe('second\na new one\n');
    expect(await worker.pidOf('web.service')).not.toBe(pid);
    expect(await worker.node.bootId()).toBe(boot);
    expect((await worker.says()).desiredDrain).toBeUndefined();
  });

  it('reloads where the policy asks for no more: the service goes on', async () => {
    const pid = await worker.pidOf('web.service');
    const config = await render({ message: 'third' });
    await worker.aim(config);
    await measured('file', () => worker.done(config));
    expect(await worker.node.sh('cat /run/web')).toBe('third\n');
    expect(await worker.pidOf('web.service')).toBe(pid);
  });

  it('asks to be drained before a change that needs a reboot, and for its pods back after it', async () => {
    const boot = await worker.node.bootId();
    const config = await render({ others: { '/etc/other': 'here\n' } });
    await worker.aim(config);
    await measured('reboot', () =>
      worker.until(({ lastAppliedDrain }) => lastAppliedDrain === `uncordon-${config}`, 'to have its pods back'),
    );
    await worker.done(config);
    expect(await worker.node.bootId()).not.toBe(boot);
    expect(await worker.file('/etc/other')).toBe('here\n');
  });

  it('goes back when a unit does not start: its old files, its old unit running, and the reason on its Node', async () => {
    const { currentConfig: old = '' } = await worker.says();
    const [before, boot] = [await worker.snapshot('/etc'), await worker.node.bootId()];
    const config = await render({ message: 'never', start: '/no/such/program' });
    await worker.aim(config);
    const { reason, currentConfig } = await measured('rolled back', () =>
      worker.until(({ state }) => state === 'Degraded', 'Degraded'),
    );
    expect(reason).toContain('web.service');
    expect(currentConfig).toBe(old);
    expect(await worker.node.sh('systemctl is-active web.service; cat /run/web')).toBe('active\nthird\n');
    expect(await worker.node.bootId()).toBe(boot);
    expect(withoutMemory(await worker.snapshot('/etc'))).toBe(withoutMemory(before));
    web = { ...web, message: 'third', start: '/bin/sleep infinity' };
    await worker.aim(old);
    await worker.done(old);
  });

  it('finds a file that somebody changed within 2 s, shows how, and puts it back where the policy says so', async () => {
    const { currentConfig = '' } = await worker.says();
    await measured('drift found', async () => {
      await worker.node.sh(`echo changed >${MESSAGE}`);
      const { reason } = await worker.until(({ state }) => state === 'Degraded', 'Degraded', 2000);
      expect(reason).toContain(MESSAGE);
      expect(reason).not.toContain('changed');
    });
    await until(async () => {
      const details = await worker.node.sh('journalctl --no-pager --output=cat -t machine-config-details');
      expect(details).toContain('-third\n+changed');
    });
    await measured('drift healed', async () => {
      await annotatePolicy('heal');
      await worker.done(currentConfig);
    });
    expect(await worker.file(MESSAGE)).toBe('third\n');
    await annotatePolicy(null);
  });

  const begun = (): boolean => worker.exists(UPDATE);
  const written = (text: string) => async (): Promise<boolean> => (await worker.file(MESSAGE)) === `${text}\n`;
  const kill = (): Promise<void> => worker.killDaemon();
  const start = (): Promise<void> => worker.startDaemon();
  const cut = (): Promise<void> => worker.node.cutPower();
  const boot = (): Promise<void> => worker.node.boot();

  it.each([
    ['its daemon is killed in the middle', 'killed', written('killed'), kill, start],
    ['its power is cut as it begins', 'cut early', begun, cut, boot],
    ['its power is cut in the middle', 'cut late', written('cut late'), cut, boot],
  ])('reaches the new config although %s', async (_, message, moment, end, again) => {
    const config = await render({ message, description: message });
    await worker.aim(config);
    await worker.seen(moment);
    await end();
    // Else this would say nothing: the update was over.
    expect(worker.exists(UPDATE)).toBe(true);
    await measured(message, async () => {
      await again();
      await worker.done(config);
    });
    expect(await worker.node.sh('cat /run/web; systemctl show -P Description web.service')).toBe(
      `${message}\n${message}\n`,
    );
    expect(worker.exists(UPDATE)).toBe(false);
  });

  it('reaches the old config although its power is cut on the way back', async () => {
    const { currentConfig: old = '' } = await worker.says();
    const [before, { message }] = [await worker.snapshot('/etc'), web];
    const config = await render({ message: 'never', start: '/no/such/program' });
    await worker.aim(config);
    await worker.seen(written('never'));
    await worker.seen(written(message));
    await cut();
    expect(worker.exists(UPDATE)).toBe(true);
    const { reason, currentConfig } = await measured('cut on the way back', async () => {
      await boot();
      return worker.until(({ state }) => state === 'Degraded', 'Degraded');
    });
    expect(reason).toContain('web.service');
    expect(currentConfig).toBe(old);
    expect(await worker.node.sh('systemctl is-active web.service; cat /run/web')).toBe(`active\n${message}\n`);
    expect(withoutMemory(await worker.snapshot('/etc'))).toBe(withoutMemory(before));
  });

  it('never held more than 110 MB for its daemon in all that', () => {
    const peak = Math.max(...peaks);
    times.push(`daemon at most ${peak.toFixed(0)} MB`);
    expect(peaks).not.toHaveLength(0);
    expect(Math.min(...peaks)).toBeGreaterThan(20);
    expect(peak).toBeLessThanOrEqual(110);
  });
});

/** But for what the daemon notes for itself, such as which config failed. */
const withoutMemory = (snapshot: string): string =>
  snapshot
    .split('\n')
    .filter((line) => !line.includes('/etc/machine-config-daemon/'))
    .join('\n');
