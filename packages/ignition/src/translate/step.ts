// One translation between two neighbouring spec versions, and what the steps share.
import type { Findings } from '../report.ts';
import type { AnyConfig, ConfigOf } from '../spec/index.ts';
import type { SpecVersion } from '../version.ts';

export interface TranslateOptions {
  /** Mount points of the filesystems that a 2.x config names, by name. `root` is always `/`. */
  readonly filesystems?: Readonly<Record<string, string>>;
}

/** A step reports what the other version cannot express as an error; then its result must be discarded. */
type Run<F extends SpecVersion, T extends SpecVersion> = (
  config: ConfigOf<F>,
  findings: Findings,
  options: TranslateOptions,
) => ConfigOf<T>;

export interface Step {
  readonly from: SpecVersion;
  readonly to: SpecVersion;
  /**
   * The result may violate a rule that only the other version has. Upwards within a major version, rules only become
   * wider.
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

interface NotSayable {
  readonly path: string;
  /** What the older spec lacks, if that is more than the last field of the path. */
  readonly name?: string;
  readonly value: unknown;
  /** The default value: omitting the field means the same. */
  readonly neutral?: unknown;
}

/**
 * How a step down handles a field that the older spec lacks: nothing if it is absent, an entry of kind info if it only
 * states the default, an error otherwise.
 */
export function leaveOut(field: NotSayable, to: SpecVersion, findings: Findings): void {
  const { path, value, neutral } = field;
  if (value === undefined) return;
  const name = field.name ?? path.slice(path.lastIndexOf('.') + 1);
  if (neutral !== undefined && value === neutral) {
    findings.info(path, `spec ${to} has no ${name}; it is omitted, because its value is the default`);
  } else {
    findings.error(path, `spec ${to} has no ${name}, so it cannot express this`);
  }
}

/** The list as a field of an object, unless it is absent or empty: normal form has no empty lists. */
export function withList<N extends string, I>(name: N, items: readonly I[] | undefined): { [K in N]?: I[] } {
  if (items === undefined || items.length === 0) return {};
  const field: { [K in N]?: I[] } = {};
  return Object.assign(field, { [name]: [...items] });
}
