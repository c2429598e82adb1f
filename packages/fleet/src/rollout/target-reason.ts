// Why and when a Node was given its desired config, as one annotation: `<time> <why>`.

/** What the reason of a machine begins with that had failed at another config: see NodeFacts.wasFailing. */
export const AFTER_FAILURE = 'it failed before: ';

const MAX_REASON = 500;

export const targetReason = (at: number, why: string): string =>
  `${new Date(at).toISOString()} ${why.slice(0, MAX_REASON)}`;

export interface TargetReason {
  /** Null: it does not say. */
  readonly givenAt: number | null;
  readonly why: string;
  readonly wasFailing: boolean;
}

/** Anybody may have written the annotation: what is not ours has no time. */
export function parseTargetReason(annotation: string | undefined): TargetReason {
  const [, time = '', why = ''] = /^(\S{20,30}) (.*)$/s.exec(annotation ?? '') ?? [];
  const givenAt = Date.parse(time);
  if (Number.isNaN(givenAt)) return { givenAt: null, why: (annotation ?? '').slice(0, MAX_REASON), wasFailing: false };
  return { givenAt, why, wasFailing: why.startsWith(AFTER_FAILURE) };
}
