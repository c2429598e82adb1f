// In the place of the kubelets of simulated machines: registers each machine's Node when it comes up and keeps its status.
import { nodes } from '@slipway/api';
import type { Client, ControllerDef } from '@slipway/kube';
import { done, isKubeError } from '@slipway/kube';
import { type MachineFacts, nodeOf, statusOf } from './node-of.ts';
import { hostOf, type SimulatedMachine } from './simulated-machine.ts';

export interface StandInKubeletOptions {
  machineOf(this: void, name: string): SimulatedMachine | undefined;
  /** By the node's own identity. */
  clientOf(this: void, name: string): Client;
  /** `wake` is called with the name of every machine, and again when it has come up or gone down. Returns the way to stop listening. */
  onPower(this: void, wake: (name: string) => void): () => void;
}

export function standInKubelet({ machineOf, clientOf, onPower }: StandInKubeletOptions): ControllerDef {
  return {
    name: 'stand-in-kubelet',
    reads: [],
    owns: [{ resource: nodes }],
    workers: 8,
    listen: onPower,
    async reconcile(name, { client: admin, now }) {
      const machine = machineOf(name);
      if (machine === undefined) return done();
      const facts = await factsOf(machine);
      const told = JSON.stringify(facts);
      if (told === machine.told) return done();
      const kubelet = clientOf(name);
      if ((await kubelet.find(nodes, { name })) === undefined) await register(admin, machine);
      await tell(kubelet, machine, facts, now());
      machine.told = told;
      return done();
    },
  };
}

async function factsOf(machine: SimulatedMachine): Promise<MachineFacts> {
  const host = hostOf(machine, () => {});
  const { name, version } = await host.os.describe();
  return { isUp: machine.isUp, bootId: await host.bootId(), osImage: `${name} ${version}` };
}

/**
 * By an administrator, for a kubelet may give itself no role; and whole in one step, for a Node without a role belongs to no pool,
 * which somebody would be warned of.
 */
async function register(admin: Client, machine: SimulatedMachine): Promise<void> {
  await admin.create(nodes, nodeOf(machine)).catch((error: unknown) => {
    if (!isKubeError(error, 'SLW_KUBE_ALREADY_EXISTS')) throw error;
  });
}

async function tell(kubelet: Client, { name }: SimulatedMachine, facts: MachineFacts, now: Date): Promise<void> {
  // Strategic: of the conditions, those that are named change.
  const body = { status: statusOf(facts, now) };
  await kubelet.patch(nodes, { name }, { type: 'strategic', body }, {}, { subresource: 'status' });
}
