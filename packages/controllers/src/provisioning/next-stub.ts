import { parse } from '@slipway/ignition';
import type { AnyConfig } from '@slipway/ignition';

/** What is there under the name of a stub. */
export interface KeptStub {
  /** It has our label. */
  managed: boolean;
  /** Its data is what we wrote last. */
  intact: boolean;
  /** Its data is what it should be now. */
  current: boolean;
  /** It is a stub of this pool, whoever made it. */
  pointsAtPool: boolean;
}

export type StubStep =
  | 'create'
  | 'keep'
  /** The CA, the token or the address has changed. */
  | 'renew'
  /** Somebody has changed it. */
  | 'put back'
  /** Another operator's stub of this pool: it becomes ours, with a copy of what it was. */
  | 'take over'
  /** Something else of that name: not ours to touch. */
  | 'leave alone';

export function nextStub(kept: KeptStub | undefined): StubStep {
  if (kept === undefined) return 'create';
  if (!kept.managed) return kept.pointsAtPool ? 'take over' : 'leave alone';
  if (!kept.intact) return 'put back';
  return kept.current ? 'keep' : 'renew';
}

const limits = { size: 64 * 1024, depth: 50, values: 2000 };

/** Whether this is an Ignition config whose contents are fetched from some server's /config/<pool>. */
export function pointsAt(text: string, pool: string): boolean {
  const { config } = parse(text, limits);
  const sources = config === null ? [] : sourcesOf(config);
  return sources.some((source) => URL.canParse(source) && new URL(source).pathname === `/config/${pool}`);
}

function sourcesOf({ ignition }: AnyConfig): string[] {
  const { config = {} } = ignition;
  const references = [
    ...('merge' in config ? (config.merge ?? []) : []),
    ...('append' in config ? (config.append ?? []) : []),
    ...(config.replace === undefined ? [] : [config.replace]),
  ];
  return references.flatMap(({ source }) => source ?? []);
}
