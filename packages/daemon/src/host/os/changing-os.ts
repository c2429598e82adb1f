import type { OperatingSystem } from '../host.ts';

/** What differs between the tools; the rest of an OperatingSystem is the same for all. */
export type ChangingOS = Pick<OperatingSystem, 'state' | 'stage' | 'discard'>;
