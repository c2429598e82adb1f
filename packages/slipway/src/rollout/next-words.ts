// What happens after a command, for people: also that nothing happens yet, and how it would.

export interface Brakes {
  readonly isPaused: boolean;
  /** Why the whole fleet is stopped; null: it is not. */
  readonly stopped: string | null;
}

/** `moving` is what to say where nothing holds the machines. */
export function nextWords(pool: string, { isPaused, stopped }: Brakes, moving: string): string {
  const brakes = [
    ...(stopped === null ? [] : [`the rollouts of all pools are stopped (${stopped}): slipway resume --all ends that`]),
    ...(isPaused ? [`pool ${pool} is paused: slipway resume ${pool} ends that`] : []),
  ];
  return brakes.length === 0 ? moving : `But no machine moves yet: ${brakes.join('; and ')}. ${moving}`;
}
