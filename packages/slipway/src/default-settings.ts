import type { ControllerSettings } from './controllers-of.ts';

/** Apart from the controllers themselves, so that `--help` need not load them. */
export const defaultSettings: ControllerSettings = { keepRendered: 10 };
