import type { LogLevel } from '@slipway/kube';
import { Option } from 'commander';

/** Written out here: loading @slipway/kube for them would make `--version` and `--help` slow. */
const logLevels: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];

export const logLevelOption = (): Option =>
  new Option('--log-level <level>', 'how much to log').choices(logLevels).default('info');
