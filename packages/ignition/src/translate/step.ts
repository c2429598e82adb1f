// One translation between two neighbouring spec versions, and what the steps share.
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

interface NotSayable {
  readonly path: string;
  /** What the older spec lacks, where that is more than the last field of the path. */
  readonly name?: string;
  readonly value: unknown;
  /** The value that says nothing: without the field it is the same. */
  readonly neutral?: unknown;
}

/**
 * What a step down does with a field that the older spec lacks: nothing when it is not there, an entry of kind info when it
 * only says what is so anyway, an error otherwise.
 */
export function leaveOut(field: NotSayable, to: SpecVersion, findings: Findings): void {
  const { path, value, neutral } = field;
  if (value === undefined) return;
  const name = field.name ?? path.slice(path.lastIndexOf('.') + 1);
  if (neutral !== undefined && value === neutral) {
    findings.info(path, `spec ${to} has no ${name}; it is left out, since it only says what is so anyway`);
  } else {
    findings.error(path, `spec ${to} has no ${name}: a config of that spec cannot say this`);
  }
}

/** The list as a field of an object, unless it is absent or empty: a config in normal form has no empty lists. */
export function withList<N extends string, I>(name: N, items: readonly I[] | undefined): { [K in N]?: I[] } {
  if (items === undefined || items.length === 0) return {};
  const field: { [K in N]?: I[] } = {};
  return Object.assign(field, { [name]: [...items] });
}
