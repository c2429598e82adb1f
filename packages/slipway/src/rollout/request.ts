// A user's request to the rollout controller: an annotation on the pool, which the controller answers and removes.
import { type MachineConfigPool, machineConfigPools, rolloutRequestAnnotation } from '@slipway/api';
import { readPoolFacts, type RolloutState } from '@slipway/fleet';
import { type Client, createInformer } from '@slipway/kube';
import { CommandError } from '../cli/errors.ts';
import { INTERRUPTED, type Io, toJson, write } from '../cli/io.ts';
import { safeText } from '../cli/terminal.ts';
import { changePool } from './pools.ts';

/** The result of a command, human-readable and as JSON. */
export interface RolloutCommandResult {
  readonly action: 'pause' | 'resume' | 'cancel' | 'rollback';
  /** Null: all of them. */
  readonly pool: string | null;
  /** Whether anything was written. */
  readonly changed: boolean;
  readonly message: string;
  /** What happens next, and which command shows it. */
  readonly next: string;
}

export interface ResultOptions {
  output: 'text' | 'json';
}

export function writeResult(io: Io, { output }: ResultOptions, outcome: RolloutCommandResult): Promise<void> {
  const text = output === 'json' ? toJson(outcome) : `${safeText(outcome.message)}\n${safeText(outcome.next)}\n`;
  return write(io.stdout, text);
}

export interface PoolRequestCommandOptions extends ResultOptions {
  /** Seconds. */
  wait: number;
}

interface PoolRequest {
  readonly client: Client;
  readonly pool: string;
  readonly action: RolloutCommandResult['action'];
  readonly request: string;
  /** Printed after the answer. */
  readonly next: string;
  readonly signal: AbortSignal;
}

/** Sends the request and prints the controller's answer. A refusal is an error. */
export async function runPoolRequest(question: PoolRequest, options: PoolRequestCommandOptions, io: Io): Promise<void> {
  const { pool, action, request, next } = question;
  const onWait = (): void => {
    void write(
      io.stderr,
      `requested ${request}; waiting up to ${options.wait} s for the controller’s answer. Ctrl-C withdraws the request\n`,
    );
  };
  const asked = await sendPoolRequest({ ...question, waitMs: options.wait * 1000, onWait });
  if (asked.type === 'withdrawn') {
    await write(io.stderr, `The request ${request} to pool ${pool} was withdrawn. It changes nothing.\n`);
    io.setExitCode(INTERRUPTED);
    return;
  }
  const { ok, text } = asked.answer;
  if (!ok) throw new CommandError('SLW_CLI_REFUSED', `${action} of pool ${pool} was refused: ${text}`);
  await writeResult(io, options, { action, pool, changed: true, message: sentence(text), next });
}

const sentence = (text: string): string =>
  `${text.charAt(0).toUpperCase()}${text.slice(1)}${text.endsWith('.') ? '' : '.'}`;

interface PoolRequestOptions {
  readonly client: Client;
  readonly pool: string;
  readonly request: string;
  readonly waitMs: number;
  /** Aborted: the request is withdrawn. */
  readonly signal: AbortSignal;
  /** Called if the answer takes more than a moment. */
  readonly onWait: () => void;
}

/** For faster answers, a message about waiting would only flicker. */
const QUIET_MS = 1000;

type PoolRequestResult = { readonly type: 'answered'; readonly answer: RolloutAnswer } | { readonly type: 'withdrawn' };

async function sendPoolRequest(options: PoolRequestOptions): Promise<PoolRequestResult> {
  const { client, pool, request } = options;
  const { before } = await changePool(client, pool, () => ({
    metadata: { annotations: { [rolloutRequestAnnotation]: request } },
  }));
  const seen = await waitForAnswer(options, readAnswer(before));
  if (seen.type !== 'interrupted') return seen;
  await withdrawRequest(client, pool, request);
  return { type: 'withdrawn' };
}

function waitForAnswer(
  { client, pool, request, waitMs, signal, onWait }: PoolRequestOptions,
  last: RolloutAnswer | null,
): Promise<Extract<PoolRequestResult, { type: 'answered' }> | { readonly type: 'interrupted' }> {
  const ended = new AbortController();
  const informer = createInformer(client.transport, {
    resource: machineConfigPools,
    fieldSelector: `metadata.name=${pool}`,
    longestBackoffMs: 1000,
  });
  const waiting = setTimeout(onWait, Math.min(QUIET_MS, waitMs));
  const { promise, resolve, reject } = Promise.withResolvers<
    Extract<PoolRequestResult, { type: 'answered' }> | { readonly type: 'interrupted' }
  >();
  const limit = setTimeout(() => reject(noAnswerError(pool, request, waitMs)), waitMs);
  const onAbort = (): void => resolve({ type: 'interrupted' });
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  let stood = false;
  informer.onChange((change) => {
    if (change.type === 'deleted') {
      reject(withdrawnError(pool, request, 'the pool was deleted'));
      return;
    }
    const asked = readRequestState(change.object, request, last);
    if (asked.type === 'answered') resolve(asked);
    else if (asked.type === 'waiting') stood = true;
    else if (stood)
      reject(withdrawnError(pool, request, 'another client removed it, or the pool has no rollout that it applies to'));
  });
  informer.start(ended.signal);
  return promise.finally(() => {
    clearTimeout(waiting);
    clearTimeout(limit);
    signal.removeEventListener('abort', onAbort);
    ended.abort();
  });
}

/** Removes only our own request: a different one belongs to another client. */
async function withdrawRequest(client: Client, pool: string, request: string): Promise<void> {
  await changePool(client, pool, ({ metadata }) =>
    metadata.annotations?.[rolloutRequestAnnotation] === request
      ? { metadata: { annotations: { [rolloutRequestAnnotation]: null } } }
      : null,
  );
}

export type RolloutAnswer = NonNullable<RolloutState['answer']>;

export type PoolRequestState =
  /** The request is still on the pool. */
  | { readonly type: 'waiting' }
  | { readonly type: 'answered'; readonly answer: RolloutAnswer }
  /** Neither the request nor an answer to it: a stale view of the pool, or another client removed the request. */
  | { readonly type: 'gone' };

/** `last` is the answer on the pool before the request. */
export function readRequestState(
  pool: MachineConfigPool,
  request: string,
  last: RolloutAnswer | null,
): PoolRequestState {
  if (pool.metadata.annotations?.[rolloutRequestAnnotation] === request) return { type: 'waiting' };
  const answer = readAnswer(pool);
  const isNew = answer !== null && answer.request === request && answer.at !== last?.at;
  return isNew ? { type: 'answered', answer } : { type: 'gone' };
}

const readAnswer = (pool: MachineConfigPool): RolloutAnswer | null => readPoolFacts(pool).pool.state?.answer ?? null;

function noAnswerError(pool: string, request: string, waitMs: number): CommandError {
  return new CommandError(
    'SLW_CLI_NO_ANSWER',
    `no controller has answered the request ${request} to pool ${pool} within ${Math.round(waitMs / 1000)} s; probably none is running. ` +
      `Start one with slipway controller: it answers the request, and slipway status ${pool} shows the result. To withdraw the request: kubectl annotate machineconfigpool ${pool} ${rolloutRequestAnnotation}-`,
  );
}

const withdrawnError = (pool: string, request: string, why: string): CommandError =>
  new CommandError(
    'SLW_CLI_NO_ANSWER',
    `the request ${request} to pool ${pool} will not be answered: ${why}. slipway status ${pool} shows the current state`,
  );
