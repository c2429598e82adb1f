// That something has ended, for who takes the next step. Many images may come within a moment: that is one news.

export interface News {
  /** `isUrgent`: the next step has something to do about it. */
  readonly tell: (isUrgent: boolean) => void;
  /** Returns the way to stop listening. */
  readonly listen: (wake: () => void) => () => void;
}

const TOGETHER_MS = 250;

export function createNews(): News {
  let wake: (() => void) | null = null;
  let timer: NodeJS.Timeout | null = null;

  function quiet(): void {
    if (timer !== null) clearTimeout(timer);
    timer = null;
  }
  function tellNow(): void {
    quiet();
    wake?.();
  }

  return {
    tell(isUrgent) {
      if (isUrgent) tellNow();
      else timer ??= setTimeout(tellNow, TOGETHER_MS).unref();
    },
    listen(listener) {
      wake = listener;
      return () => {
        wake = null;
        quiet();
      };
    },
  };
}
