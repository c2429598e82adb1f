import { setTimeout as wait } from 'node:timers/promises';
import { type Ironic, type KnownNode, formatNodeName, type DesiredNode } from '@slipway/fleet/hosts';
import {
  type EmulatedSystem,
  type FaultProxy,
  type IsoServer,
  type RunningEmulator,
  type RunningIronic,
  startFaultProxy,
  startIronic,
  startIsoServer,
  startRedfishEmulator,
} from '@slipway/tools/ironic';
import { createIronic } from '../client.ts';

const TIMEOUT_MS = 50_000;
const POLL_MS = 200;

/** A real Ironic with TLS and a password, a BMC for some hosts, a server of ISOs, and optionally a proxy. */
export interface RealIronic extends AsyncDisposable {
  readonly running: RunningIronic;
  readonly bmc: RunningEmulator;
  readonly isos: IsoServer;
  readonly proxy: FaultProxy;
  readonly ironic: Ironic;
  system(name: string): EmulatedSystem;
  wanted(name: string, digest?: string): DesiredNode;
  /** The node once it is unlocked and meets the condition. */
  nodeWhen(name: string, isSo?: (node: KnownNode) => boolean): Promise<KnownNode>;
  /** Registers it, waits until it is active, and returns its UUID. */
  adopted(name: string): Promise<string>;
}

export async function startRealIronic(systems: readonly string[]): Promise<RealIronic> {
  const [running, bmc, isos] = await Promise.all([
    startIronic({ auth: 'basic', tls: true }),
    startRedfishEmulator({ systems }),
    startIsoServer(),
  ]);
  const proxy = await startFaultProxy(running);
  const ironic = createIronic({ url: running.url, ca: running.ca, auth: running });

  const system = (name: string): EmulatedSystem => {
    const found = bmc.systems.find((each) => each.name === name);
    if (found === undefined) throw new Error(`no system ${name}`);
    return found;
  };
  const wanted = (name: string, digest = 'd1'): DesiredNode => ({
    name: formatNodeName('metal', name),
    driver: 'redfish',
    driverInfo: {
      redfish_address: bmc.url,
      redfish_system_id: system(name).path,
      redfish_username: bmc.credentials.username,
      redfish_password: bmc.credentials.password,
    },
    hostUid: `uid-of-${name}`,
    digest,
  });
  async function nodeWhen(name: string, isSo: (node: KnownNode) => boolean = () => true): Promise<KnownNode> {
    const until = Date.now() + TIMEOUT_MS;
    for (;;) {
      const node = await ironic.node(formatNodeName('metal', name));
      if (node !== null && node.reservation === null && isSo(node)) return node;
      if (Date.now() > until) throw new Error(`${name} did not come to it: ${JSON.stringify(node)}`);
      await wait(POLL_MS);
    }
  }
  async function adopted(name: string): Promise<string> {
    await ironic.register(wanted(name));
    const { uuid } = await nodeWhen(name);
    await ironic.provision(uuid, 'manage');
    await nodeWhen(name, ({ provisionState }) => provisionState === 'manageable');
    await ironic.provision(uuid, 'adopt');
    await nodeWhen(name, ({ provisionState }) => provisionState === 'active');
    return uuid;
  }

  return {
    running,
    bmc,
    isos,
    proxy,
    ironic,
    system,
    wanted,
    nodeWhen,
    adopted,
    async [Symbol.asyncDispose]() {
      await ironic.close();
      await proxy.stop();
      await Promise.all([running.stop(), bmc.stop(), isos.stop()]);
    },
  };
}
