// The rules of the real validator for the config's own version, as a report. A config with no error in it is valid.
import type { Report } from '../report.ts';
import type { AnyConfig, Config2 } from '../spec/index.ts';
import { validate2 } from './v2.ts';
import { validate3 } from './v3.ts';

export function validate(config: AnyConfig): Report {
  return isConfig2(config) ? validate2(config) : validate3(config);
}

function isConfig2(config: AnyConfig): config is Config2 {
  return config.ignition.version.startsWith('2.');
}
