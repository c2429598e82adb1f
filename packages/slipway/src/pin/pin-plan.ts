// What `slipway pin release` and `pin images` are about to do, or did. `-o json` gives exactly this.
import type { NodeFit } from '@slipway/fleet';

export interface PinPlan {
  /** Where the images come from. */
  readonly source: { readonly release: string; readonly version: string | null } | { readonly file: string };
  readonly pool: string;
  /** All pools whose machines will hold the images: the labels of a set may match several. */
  readonly pools: readonly string[];
  readonly images: number;
  /** As they are transferred to a machine that has nothing of them, shared layers once; null: nobody was asked. */
  readonly bytes: number | null;
  /** What they take on such a machine's disk. */
  readonly diskBytes: number | null;
  readonly sets: readonly PlannedSet[];
  /** By name. */
  readonly nodes: readonly NodeFit[];
  readonly notes: readonly string[];
  readonly dryRun: boolean;
  /** Whether anything was written. */
  readonly written: boolean;
}

export interface PlannedSet {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** What it takes to have it so: `none` where it is so already. */
  readonly change: 'make' | 'change' | 'none';
  /** Images that it gets or loses, where it is there already. */
  readonly added: number;
  readonly removed: number;
  readonly images: readonly string[];
}

/** For a script that asks before it pins: 2 where some machine may not take it, or is not known to. */
export const exitCodeOf = ({ nodes }: Pick<PinPlan, 'nodes'>): number =>
  nodes.every(({ verdict }) => verdict === 'fits') ? 0 : 2;
