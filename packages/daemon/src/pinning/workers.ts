// Does the same for many images, so many at once. What is under way goes on however often the list of what is to be done is given
// anew: a large image takes longer than any step of the daemon.

export type WorkerResult = { readonly ok: true } | { readonly ok: false; readonly error: unknown };

export interface Workers {
  /** In place of all that has not begun yet. */
  give(images: readonly string[], atOnce: number): void;
  /** Those under way that are not among these are ended. Nobody hears how. */
  endAllBut(images: ReadonlySet<string>): void;
  underWay(): number;
  /** To be begun, or under way. */
  busy(): boolean;
  /** Resolves when nothing is under way any more. */
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
    // What came to its end all the same is worth to know.
    if (outcome.ok || !signal.aborted) onEnd(image, outcome);
    startWaiting();
  }

  function abortMatching(those: (image: string) => boolean): void {
    for (const [image, { abort }] of running) if (those(image)) abort.abort(new Error('it is not wanted any more'));
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
