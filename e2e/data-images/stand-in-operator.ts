// Stands in for the operator that people use today, in what counts here: it registers a host, powers it as spec.online and the
// reboot annotations say, and writes its status. It knows nothing of DataImages.
import { setTimeout as wait } from 'node:timers/promises';
import { bareMetalHosts } from '@slipway/api';
import { isIronicError } from '@slipway/controllers';
import { isKubeError } from '@slipway/kube';
import { METAL, type DataImageScene } from './scene.ts';

const POLL_MS = 200;

export interface StandInOperator {
  stop(): Promise<void>;
}

export function standInOperator(scene: DataImageScene, name: string): StandInOperator {
  const over = new AbortController();
  const node = `${METAL}~${name}`;

  async function register(): Promise<void> {
    const { url, credentials, systems } = scene.bmc;
    const driverInfo = {
      redfish_address: url,
      redfish_system_id: systems.find((each) => each.name === name)?.path ?? '',
      redfish_username: credentials.username,
      redfish_password: credentials.password,
    };
    // With another's marks: to Slipway it is nobody's.
    await scene.direct.register({ name: node, driver: 'redfish', driverInfo, hostUid: '', digest: '' });
  }

  async function reconcile(): Promise<void> {
    const found = await scene.direct.node(node);
    const host = await scene.host(name);
    if (host === undefined) return;
    if (found === null) return register();
    if (found.reservation !== null) return;
    if (found.provisionState === 'enroll') return scene.direct.provision(found.uuid, 'manage');
    if (found.provisionState === 'manageable') return scene.direct.provision(found.uuid, 'adopt');
    if (found.provisionState === 'active') await steady(found.uuid, found.powerState === 'power on');
  }

  async function steady(uuid: string, isOn: boolean): Promise<void> {
    const { metadata } = await scene.client.get(bareMetalHosts, { namespace: METAL, name });
    const status = {
      operationalStatus: 'OK',
      poweredOn: isOn,
      errorMessage: '',
      provisioning: { ID: uuid, state: 'externally provisioned' },
    };
    const { uid, resourceVersion } = metadata;
    const patch = { type: 'merge', body: { status } } as const;
    const options = { subresource: 'status' } as const;
    await scene.client.patch(bareMetalHosts, metadata, patch, { uid, resourceVersion }, options);
    const reboots = Object.keys(metadata.annotations ?? {}).filter((key) => key.startsWith('reboot.metal3.io'));
    await power(uuid, isOn, reboots);
  }

  async function power(uuid: string, isOn: boolean, reboots: readonly string[]): Promise<void> {
    if (isOn && reboots.length > 0) return scene.direct.power(uuid, 'power off');
    if (!isOn && reboots.includes('reboot.metal3.io')) return scene.annotate(name, { 'reboot.metal3.io': null });
    if (!isOn && reboots.length === 0) return scene.direct.power(uuid, 'power on');
  }

  async function run(): Promise<void> {
    while (!over.signal.aborted) {
      try {
        await reconcile();
      } catch (error) {
        if (!isKubeError(error) && !isIronicError(error)) throw error;
      }
      await wait(POLL_MS);
    }
  }

  const running = run();
  return {
    async stop() {
      over.abort();
      await running;
    },
  };
}
