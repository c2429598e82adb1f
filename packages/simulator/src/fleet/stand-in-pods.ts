// In the place of the kubelets of simulated machines: pods that are bound to one are said to run, and gone when they are deleted.
import { type Pod, pods } from '@slipway/api';
import { type Client, type ControllerDef, done, isKubeError, keyOf, nameOf, type Stored } from '@slipway/kube';
import { nextPodStep, runningStatus } from './next-pod-step.ts';
import type { StandInKubeletOptions } from './stand-in-kubelet.ts';
import { trimPod } from './trim-pod.ts';

const BY_NODE = 'by-node';

/** The pods of one machine at a time: a machine that comes up looks at all of its own. */
export function standInPods({ machineOf, clientOf, onPower }: StandInKubeletOptions): ControllerDef {
  return {
    name: 'stand-in-pods',
    reads: [{ resource: pods, project: trimPod, indexes: { [BY_NODE]: nodeOf }, keysOf: nodeOf }],
    owns: [{ resource: pods }, { resource: pods, subresource: 'status' }],
    workers: 8,
    listen: onPower,
    async reconcile(node, { read, now }) {
      const machine = machineOf(node);
      if (machine === undefined) return done();
      const kubelet = clientOf(node);
      for (const pod of read(pods).byIndex(BY_NODE, node)) {
        const step = nextPodStep(pod, machine.isUp);
        if (step === 'run') await run(kubelet, pod, now());
        if (step === 'end') await end(kubelet, pod);
      }
      return done();
    },
  };
}

const nodeOf = ({ spec }: Pod): string[] => (spec?.nodeName === undefined ? [] : [spec.nodeName]);

async function run(kubelet: Client, pod: Stored<Pod>, now: Date): Promise<void> {
  const body = { status: runningStatus(now) };
  const { uid } = pod.metadata;
  await orGone(
    kubelet.patch(pods, nameOf(keyOf(pod)), { type: 'strategic', body }, { uid }, { subresource: 'status' }),
  );
}

async function end(kubelet: Client, pod: Stored<Pod>): Promise<void> {
  const { uid } = pod.metadata;
  await orGone(kubelet.delete(pods, nameOf(keyOf(pod)), { uid }, { gracePeriodSeconds: 0 }));
}

async function orGone(write: Promise<unknown>): Promise<void> {
  await write.catch((error: unknown) => {
    if (!isKubeError(error, 'SLW_KUBE_NOT_FOUND')) throw error;
  });
}
