import type { StreamLifecycle } from '@slipway/fleet';
import type { Cell } from '../cli/terminal.ts';

/** The life of a stream in a table. */
export function lifecycleCell(lifecycle: StreamLifecycle | null): Cell {
  if (lifecycle === null) return '-';
  const text = lifecycle.successor === null ? lifecycle.state : `${lifecycle.state}, then ${lifecycle.successor}`;
  return { text, colour: lifecycle.state === 'blocked' ? 'red' : 'yellow' };
}
