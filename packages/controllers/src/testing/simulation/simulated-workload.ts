// Pods of one application in a simulated cluster, with a budget: evicted pods are recreated elsewhere.
import { nodes, type Pod, podDisruptionBudgets, pods } from '@slipway/api';
import { resourceId, type Stored } from '@slipway/kube';
import type { Random } from '@slipway/testing/random';
import { isCordoned, isReady } from './fleet-rules.ts';
import type { MemoryApi } from './memory-api.ts';
import type { VirtualTime } from './virtual-time.ts';

export interface Workload {
  /** The budget allows nothing at all, until it is freed. */
  block(isBlocked: boolean): void;
}

const NAMESPACE = 'apps';
const labels = { app: 'web' };
const budget = { namespace: NAMESPACE, name: 'web' };

/** One of the pods may be missing at a time. */
export function startWorkload(api: MemoryApi, time: VirtualTime, random: Random, count: number): Workload {
  let made = 0;
  let isBlocked = false;

  const running = (): Stored<Pod>[] =>
    api.list(pods).filter(({ metadata }) => metadata.deletionTimestamp === undefined);

  function place(): void {
    const free = api.list(nodes).filter((node) => isReady(node) && !isCordoned(node));
    if (free.length === 0) return void time.after(30_000, place);
    made += 1;
    const name = { namespace: NAMESPACE, name: `web-${made}` };
    api.create(pods, { metadata: { ...name, labels }, spec: { nodeName: random.pick(free).metadata.name } });
    api.patch(pods, name, { type: 'merge', body: { status: { phase: 'Running' } } }, {}, 'status');
  }

  function recount(): void {
    const disruptionsAllowed = isBlocked ? 0 : Math.max(0, running().length - (count - 1));
    const body = { status: { disruptionsAllowed, currentHealthy: running().length, desiredHealthy: count - 1 } };
    api.patch(podDisruptionBudgets, budget, { type: 'merge', body }, {}, 'status');
  }

  function end({ metadata }: Stored<Pod>): void {
    if (api.find(pods, metadata)?.metadata.uid !== metadata.uid) return;
    api.delete(pods, metadata, {}, { gracePeriodSeconds: 0 });
    place();
  }

  function onPod(pod: Stored<Pod>, isNew: boolean): void {
    if (isNew && pod.metadata.deletionTimestamp !== undefined) time.after(random.int(500, 20_000), () => end(pod));
    time.after(random.int(10, 2000), recount);
  }

  api.create(podDisruptionBudgets, {
    metadata: budget,
    spec: { minAvailable: count - 1, selector: { matchLabels: labels } },
  });
  for (let each = 0; each < count; each += 1) place();
  recount();
  api.onChange(({ resource, type, object, old }) => {
    if (resourceId(resource) === resourceId(pods)) {
      onPod(object, type === 'MODIFIED' && old?.metadata.deletionTimestamp === undefined);
    }
    if (resourceId(resource) !== resourceId(nodes) || type !== 'DELETED') return;
    const lost = api.list(pods).filter(({ spec }) => spec?.nodeName === object.metadata.name);
    for (const pod of lost) time.after(random.int(1000, 60_000), () => end(pod));
  });
  return {
    block(blocked) {
      isBlocked = blocked;
      recount();
    },
  };
}
