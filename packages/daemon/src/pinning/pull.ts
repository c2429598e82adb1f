// Pulls images: queries their sizes, checks that they fit, and pulls a limited number concurrently while there is space.
// Steps only pass what is desired now. Pulls continue between steps.
import type { Clock } from '@slipway/base/clock';
import type { PinAssignment } from '@slipway/fleet';
import type { Log } from '@slipway/kube';
import type { Host } from '../host/host.ts';
import type { Problem } from '../problem.ts';
import type { DesiredSet } from './assigned-sets.ts';
import {
  isComplete,
  listMissingImages,
  planPulls,
  type NodeHealth,
  findSpaceProblem,
  type PullPlanInput,
} from './decisions.ts';
import type { LocalImages } from './local-images.ts';
import type { PinMetrics } from './pin-metrics.ts';
import { listImageProblems, type PinProblem, toPinProblem } from './report.ts';
import { addAttempt, addFailure, type Attempts, toExpectedProblem, type RuntimeWatch, findEarliest } from './retry.ts';
import { findCredential, type Credentials, type ImageSizes, readCredentials, type SizeSource } from './sizes.ts';
import { pullWithLimit } from './pull-limit.ts';
import { createSpaceGuard } from './space-guard.ts';
import { createWorkers, type WorkerResult } from './workers.ts';

export interface ImagePullerOptions {
  readonly host: Pick<Host, 'files' | 'containers'>;
  readonly images: LocalImages;
  readonly sizes: ImageSizes;
  readonly source: SizeSource;
  readonly runtime: RuntimeWatch;
  readonly metrics: PinMetrics;
  readonly log: Log;
  readonly clock: Pick<Clock, 'now' | 'setTimer'>;
  readonly random: () => number;
  /** A pull or query has ended. `isUrgent`: the next step must act on it. */
  readonly onNews: (isUrgent: boolean) => void;
}

export interface PullRequest extends Pick<PinAssignment, 'mayPull' | 'parallel'> {
  readonly wanted: readonly DesiredSet[];
  readonly node: NodeHealth;
  readonly startsAt: number;
}

export interface PullProgress {
  readonly waitsFor: string;
  /** Null: only an event changes anything. */
  readonly wakeAt: number | null;
  readonly problems: readonly PinProblem[];
  /** With its code. '' for none. */
  readonly lastError: string;
}

export interface ImagePuller {
  /** Starts what is possible. Rejects if the container runtime does not respond. */
  advance(request: PullRequest, signal: AbortSignal): Promise<PullProgress>;
  /** The desired images changed: failed ones are retried immediately, and count as failed until they succeed. */
  startAnew(): void;
  isPulling(): boolean;
  /** Resolves when nothing is in progress. The runtime may still be unpacking, so the space is still watched. */
  stop(): Promise<void>;
  close(): Promise<void>;
}

const SIZES_AT_ONCE = 8;
/** The interval between checks for free space. */
const SPACE_CHECK_MS = 60_000;
const CREDENTIALS_MS = 120_000;

export function createImagePuller(options: ImagePullerOptions): ImagePuller {
  const { host, images, sizes, source, runtime, metrics, log, clock, random, onNews } = options;
  const { now } = clock;
  const attempts = new Map<string, Attempts>();
  /** The space ran out: nothing is pulled before `notBefore`. */
  let full: Attempts | null = null;
  let misfit: { readonly problem: Problem; readonly until: number } | null = null;
  let isChecked = false;
  let lastError = '';
  let login: { readonly credentials: Credentials; readonly until: number } | null = null;

  const pulls = createWorkers({
    async work(image, signal) {
      const credential = await findCredential(image, await readCachedCredentials());
      await pullWithLimit({ image, sized: sizes.get(image), clock, signal }, (limited) =>
        space.pull(image, limited, () => host.containers.pull(image, credential, limited)),
      );
    },
    onEnd(image, outcome) {
      metrics.pulled(outcome.ok ? 'ok' : 'error');
      if (outcome.ok) {
        images.add(image);
        attempts.delete(image);
        full = null;
        runtime.answered();
      } else recordFailure(image, outcome);
      onNews(!outcome.ok || !pulls.busy());
    },
  });
  const sizers = createWorkers({
    async work(image, signal) {
      sizes.add(image, await source.sizeOf(image, signal));
    },
    onEnd(image, outcome) {
      if (outcome.ok) attempts.delete(image);
      else recordFailure(image, outcome);
      if (!sizers.busy()) onNews(true);
    },
  });

  const space = createSpaceGuard({
    containers: host.containers,
    images,
    sizes,
    clock,
    log,
    onLowSpace(problem) {
      stopForSpace(problem);
      onNews(true);
    },
  });

  function stopForSpace(problem: Problem): void {
    lastError = `${problem.code}: ${problem.message}`;
    full = addFullDisk(full, problem, now(), random());
    pulls.give([], 0);
    pulls.endAllBut(NONE);
  }

  async function readCachedCredentials(): Promise<Credentials> {
    if (login === null || login.until <= now()) {
      login = { credentials: await readCredentials(host.files), until: now() + CREDENTIALS_MS };
    }
    return login.credentials;
  }

  function recordFailure(image: string, { error }: Extract<WorkerResult, { ok: false }>): void {
    const problem = toExpectedProblem(error) ?? logUnexpected(image, error);
    log.warn({ image, code: problem.code, problem: problem.message }, 'could not pull an image or get its size');
    login = null;
    if (problem.code === 'SLW_PINNING_RUNTIME') return runtime.note(problem);
    if (problem.code === 'SLW_PINNING_NO_SPACE') return stopForSpace(problem);
    lastError = `${problem.code}: ${problem.message}`;
    if (problem.code === 'SLW_PINNING_WOULD_NOT_FIT') {
      misfit = { problem, until: now() + SPACE_CHECK_MS };
      return pulls.give([], 0);
    }
    const add = problem.code === 'SLW_PINNING_STALLED' ? addFailure : addAttempt;
    attempts.set(image, add(attempts.get(image) ?? null, problem, now(), random()));
  }

  function logUnexpected(image: string, error: unknown): Problem {
    log.error({ err: error, image }, 'a pull failed unexpectedly; this is a bug');
    return { code: 'SLW_PINNING_PULL', message: String(error) };
  }

  /** The due images that may be pulled now. */
  async function admit(due: readonly string[], request: PullRequest, signal: AbortSignal): Promise<readonly string[]> {
    if (due.length === 0 || runtime.outage() !== null || now() < computeSpaceRetryAt()) return [];
    if (!isChecked || pulls.underWay() === 0) await checkSpace(request, signal);
    if (misfit !== null || now() < computeSpaceRetryAt()) return [];
    // Some may have arrived since.
    return due.filter((image) => !images.present().has(image));
  }

  /** When to check for free space again. */
  const computeSpaceRetryAt = (): number => Math.max(full?.notBefore ?? 0, misfit?.until ?? 0);

  /** All images together: before the first pull and after each pause. Pulls in progress were checked before. */
  async function checkSpace({ wanted }: PullRequest, signal: AbortSignal): Promise<void> {
    const store = await images.measure(signal);
    const present = images.present();
    const missing = listMissingImages(wanted, present);
    const problem = findSpaceProblem({ missing, present, sizes, store, learned: space.learned() });
    if (problem === null)
      log.info({ images: missing.length, freeBytes: store.freeBytes }, 'pulling images: they fit on the disk');
    misfit = problem && { problem, until: now() + SPACE_CHECK_MS };
    isChecked = true;
  }

  /** Sizes can be queried again, so a failed write blocks nothing. */
  async function saveSizes(missing: ReadonlySet<string>): Promise<void> {
    await sizes.save(new Set([...images.present(), ...missing])).catch((error: unknown) => {
      log.warn({ err: error }, 'could not save the sizes of images');
    });
  }

  function listProblems({ wanted }: PullRequest): PinProblem[] {
    const present = images.present();
    const lacking = wanted.filter((set) => !isComplete(set, present)).map(({ name }) => name);
    if (lacking.length === 0) return [];
    const ofAll = [full?.problem, misfit?.problem].flatMap((problem) => problem ?? []);
    return [...ofAll.map((problem) => toPinProblem(problem, lacking)), ...listImageProblems(wanted, present, attempts)];
  }

  async function stop(): Promise<void> {
    await Promise.all([pulls.stop(), sizers.stop()]);
    await source.rest();
  }

  return {
    async advance(request, signal) {
      const { wanted, parallel } = request;
      const missing = new Set(listMissingImages(wanted, images.present()));
      pulls.endAllBut(missing);
      sizers.endAllBut(missing);
      forgetOthers(attempts, missing);
      if (missing.size === 0) [full, misfit, lastError] = [null, null, ''];
      space.forgetOthers(missing);
      const input: PullPlanInput = { ...request, present: images.present(), sizes, attempts, now: now() };
      const work = planPulls(input);
      if (work.stop) pulls.endAllBut(NONE);
      sizers.give(work.learn, SIZES_AT_ONCE);
      if (work.learn.length === 0) {
        await saveSizes(missing);
        if (!sizers.busy()) await source.rest();
      }
      pulls.give(await admit(work.pull, request, signal), parallel);
      const waits = [work.wakeAt ?? 0, computeSpaceRetryAt()];
      return {
        waitsFor: work.waitsFor,
        wakeAt: findEarliest(waits.filter((at) => at > now())),
        problems: listProblems(request),
        lastError,
      };
    },
    startAnew() {
      const at = now();
      for (const [image, tried] of attempts) attempts.set(image, { ...tried, notBefore: at });
      full &&= { ...full, notBefore: at };
      misfit &&= { ...misfit, until: at };
      login = null;
      isChecked = false;
    },
    isPulling: () => pulls.busy() || sizers.busy(),
    stop,
    async close() {
      await stop();
      space.stop();
    },
  };
}

const NONE: ReadonlySet<string> = new Set();

/** Concurrent pulls fail for the same reason and count once. A full disk counts as failed from the first time. */
function addFullDisk(before: Attempts | null, problem: Problem, now: number, random: number): Attempts {
  if (before !== null && now < before.notBefore) return before;
  return addFailure(before, problem, now, random);
}

function forgetOthers(attempts: Map<string, Attempts>, missing: ReadonlySet<string>): void {
  for (const image of attempts.keys()) if (!missing.has(image)) attempts.delete(image);
}

// Triggers the next step when something has ended. Images that arrive shortly after each other trigger only one.

export interface WakeSignal {
  /** `isUrgent`: the next step must act on it. */
  readonly tell: (isUrgent: boolean) => void;
  /** Returns a function that stops listening. */
  readonly listen: (wake: () => void) => () => void;
}

const BATCH_MS = 250;

export function createWakeSignal(): WakeSignal {
  let wake: (() => void) | null = null;
  let timer: NodeJS.Timeout | null = null;

  function cancelTimer(): void {
    if (timer !== null) clearTimeout(timer);
    timer = null;
  }
  function wakeNow(): void {
    cancelTimer();
    wake?.();
  }

  return {
    tell(isUrgent) {
      if (isUrgent) wakeNow();
      else timer ??= setTimeout(wakeNow, BATCH_MS).unref();
    },
    listen(listener) {
      wake = listener;
      return () => {
        wake = null;
        cancelTimer();
      };
    },
  };
}
