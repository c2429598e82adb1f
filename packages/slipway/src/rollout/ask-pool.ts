// A person's request to the rollout controller: an annotation on the pool, that it answers and takes away.
import { machineConfigPools, rolloutRequestAnnotation } from '@slipway/api';
import { type Client, createInformer } from '@slipway/kube';
import { CommandError } from '../cli/errors.ts';
import { type Answer, answerOf, askedOf } from './answer.ts';
import { changePool } from './change-pool.ts';

export interface AskOptions {
  readonly client: Client;
  readonly pool: string;
  readonly request: string;
  readonly waitMs: number;
  /** Aborted: the request is taken back. */
  readonly signal: AbortSignal;
  /** The answer lets wait for itself. */
  readonly onWait: () => void;
}

/** Sooner than this, an answer comes before anybody could read that it is waited for. */
const QUIET_MS = 1000;

export type AskResult = { readonly type: 'answered'; readonly answer: Answer } | { readonly type: 'taken back' };

export async function askPool(options: AskOptions): Promise<AskResult> {
  const { client, pool, request } = options;
  const { before } = await changePool(client, pool, () => ({
    metadata: { annotations: { [rolloutRequestAnnotation]: request } },
  }));
  const seen = await waitForAnswer(options, answerOf(before));
  if (seen.type !== 'interrupted') return seen;
  await takeBack(client, pool, request);
  return { type: 'taken back' };
}

function waitForAnswer(
  { client, pool, request, waitMs, signal, onWait }: AskOptions,
  last: Answer | null,
): Promise<Extract<AskResult, { type: 'answered' }> | { readonly type: 'interrupted' }> {
  const ended = new AbortController();
  const informer = createInformer(client.transport, {
    resource: machineConfigPools,
    fieldSelector: `metadata.name=${pool}`,
    longestBackoffMs: 1000,
  });
  const waiting = setTimeout(onWait, Math.min(QUIET_MS, waitMs));
  const { promise, resolve, reject } = Promise.withResolvers<
    Extract<AskResult, { type: 'answered' }> | { readonly type: 'interrupted' }
  >();
  const limit = setTimeout(() => reject(noAnswer(pool, request, waitMs)), waitMs);
  const onAbort = (): void => resolve({ type: 'interrupted' });
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  let stood = false;
  informer.onChange((change) => {
    if (change.type === 'deleted') {
      reject(takenAway(pool, request, 'the pool was deleted'));
      return;
    }
    const asked = askedOf(change.object, request, last);
    if (asked.type === 'answered') resolve(asked);
    else if (asked.type === 'waiting') stood = true;
    else if (stood)
      reject(
        takenAway(
          pool,
          request,
          'it was taken away without an answer, by somebody, or because the pool has no rollout that it could be about',
        ),
      );
  });
  informer.start(ended.signal);
  return promise.finally(() => {
    clearTimeout(waiting);
    clearTimeout(limit);
    signal.removeEventListener('abort', onAbort);
    ended.abort();
  });
}

/** Only the request that was made here: another one is somebody else's. */
async function takeBack(client: Client, pool: string, request: string): Promise<void> {
  await changePool(client, pool, ({ metadata }) =>
    metadata.annotations?.[rolloutRequestAnnotation] === request
      ? { metadata: { annotations: { [rolloutRequestAnnotation]: null } } }
      : null,
  );
}

function noAnswer(pool: string, request: string, waitMs: number): CommandError {
  return new CommandError(
    'SLW_CLI_NO_ANSWER',
    `the request ${request} stands on pool ${pool}, but nobody has answered it within ${Math.round(waitMs / 1000)} s: probably no controller runs. ` +
      `Start one (slipway controller): it answers then, and slipway status ${pool} shows it. To take the request back: kubectl annotate machineconfigpool ${pool} ${rolloutRequestAnnotation}-`,
  );
}

const takenAway = (pool: string, request: string, why: string): CommandError =>
  new CommandError(
    'SLW_CLI_NO_ANSWER',
    `the request ${request} to pool ${pool} will not be answered: ${why}. slipway status shows what is so now`,
  );
