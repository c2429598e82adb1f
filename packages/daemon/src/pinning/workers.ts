// Processes many images with limited concurrency. Work in progress continues however often the list is replaced,
// because a large image takes longer than any step of the daemon.

export type WorkerResult = { readonly ok: true } | { readonly ok: false; readonly error: unknown };

export interface Workers {
  /** Replaces everything that has not started. */
  give(images: readonly string[], atOnce: number): void;
  /** Cancels work on all other images. Their failures are not reported. */
  endAllBut(images: ReadonlySet<string>): void;
  underWay(): number;
  /** Something is pending or in progress. */
  busy(): boolean;
  /** Resolves when nothing is in progress. */
  stop(): Promise<void>;
}

export interface WorkersOptions {
  readonly work: (image: string, signal: AbortSignal) => Promise<void>;
  readonly onEnd: (image: string, outcome: WorkerResult) => void;
}

interface RunningTask {
  readonly abort: AbortController;
  readonly ended: Promise<void>;
}

export function createWorkers({ work, onEnd }: WorkersOptions): Workers {
  const running = new Map<string, RunningTask>();
  let waiting: string[] = [];
  let maxRunning = 0;

  function startWaiting(): void {
    while (running.size < maxRunning) {
      const image = waiting.shift();
      if (image === undefined) return;
      const abort = new AbortController();
      running.set(image, { abort, ended: runTask(image, abort.signal) });
    }
  }

  async function runTask(image: string, signal: AbortSignal): Promise<void> {
    let outcome: WorkerResult;
    try {
      await work(image, signal);
      outcome = { ok: true };
    } catch (error) {
      outcome = { ok: false, error };
    }
    running.delete(image);
    // Work that succeeded despite the cancellation is reported.
    if (outcome.ok || !signal.aborted) onEnd(image, outcome);
    startWaiting();
  }

  function abortMatching(those: (image: string) => boolean): void {
    for (const [image, { abort }] of running)
      if (those(image)) abort.abort(new Error('the image is no longer desired'));
  }

  return {
    give(images, atOnce) {
      waiting = images.filter((image) => !running.has(image));
      maxRunning = atOnce;
      startWaiting();
    },
    endAllBut: (images) => abortMatching((image) => !images.has(image)),
    underWay: () => running.size,
    busy: () => running.size + waiting.length > 0,
    async stop() {
      waiting = [];
      abortMatching(() => true);
      await Promise.all([...running.values()].map(({ ended }) => ended));
    },
  };
}
