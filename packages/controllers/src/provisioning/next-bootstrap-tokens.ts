/** One of our tokens by which a kubelet introduces itself to the API server. */
export interface BootstrapToken {
  /** Six characters, public; also in the Secret's name. */
  id: string;
  /** Sixteen characters. */
  secret: string;
  /** Milliseconds since 1970. */
  expires: number;
}

export interface BootstrapStep {
  /** The one for machines that come now; undefined: make a new one. */
  use: BootstrapToken | undefined;
  /** The ids of those that nobody can use any more. */
  remove: string[];
  /** When to look again; a new token counts for itself. */
  due: number;
}

/** A new one at half of its life: a machine always gets one that is good for at least half a lifetime. */
export function nextBootstrapTokens(kept: readonly BootstrapToken[], now: number, lifetime: number): BootstrapStep {
  const valid = kept.filter(({ expires }) => expires > now).toSorted((a, b) => b.expires - a.expires);
  const [newest] = valid;
  const use = newest !== undefined && newest.expires - lifetime / 2 > now ? newest : undefined;
  return {
    use,
    remove: kept.filter(({ expires }) => expires <= now).map(({ id }) => id),
    due: Math.min(
      ...(use === undefined ? [now + lifetime / 2] : [use.expires - lifetime / 2]),
      ...valid.map(({ expires }) => expires),
    ),
  };
}
