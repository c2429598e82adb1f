// One translation between two neighbouring spec versions.
import type { Findings } from '../report.ts';
import type { AnyConfig, ConfigOf } from '../spec/index.ts';
import type { SpecVersion } from '../version.ts';

export interface TranslateOptions {
  /** Where the filesystems that a 2.x config names are mounted, by name. `root` is always `/`. */
  readonly filesystems?: Readonly<Record<string, string>>;
}

/** What a step cannot say in the other version goes into the findings as an error; the result then does not count. */
type Run<F extends SpecVersion, T extends SpecVersion> = (
  config: ConfigOf<F>,
  findings: Findings,
  options: TranslateOptions,
) => ConfigOf<T>;

export interface Step {
  readonly from: SpecVersion;
  readonly to: SpecVersion;
  /**
   * The result may break a rule of the other version that the config's own does not have. Within a major version up, rules
   * only become wider.
   */
  readonly narrows: boolean;
  readonly run: (config: AnyConfig, findings: Findings, options: TranslateOptions) => AnyConfig;
}

export function widening<F extends SpecVersion, T extends SpecVersion>(from: F, to: T, run: Run<F, T>): Step {
  return {
    from,
    to,
    narrows: false,
    run: (config, findings, options) => run(config as ConfigOf<F>, findings, options),
  };
}

export function narrowing<F extends SpecVersion, T extends SpecVersion>(from: F, to: T, run: Run<F, T>): Step {
  return { ...widening(from, to, run), narrows: true };
}
