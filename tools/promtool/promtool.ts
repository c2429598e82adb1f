import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ToolsError } from '../controlplane/errors.ts';
import { unpackDebian } from '../debian/debian.ts';
import { run } from '../run.ts';

export interface AlertRule {
  readonly alert: string;
  readonly expr: string;
  readonly for: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

export interface RuleGroup {
  readonly name: string;
  readonly rules: readonly AlertRule[];
}

/** The values of each series, one a minute; null: it is not exported. */
export type Samples = Readonly<Record<string, readonly (number | null)[]>>;

export interface AlertTest {
  readonly name: string;
  readonly alert: string;
  readonly samples: Samples;
  readonly states: readonly { readonly minute: number; readonly state: 'pending' | 'firing' | null }[];
  /** A minute in which it fires, with all its labels and texts. */
  readonly fires: {
    readonly minute: number;
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations: Readonly<Record<string, string>>;
  };
}

/** Debian's promtool, from the user's cache. Null: this machine has no Debian packages, so tests that need it are skipped. */
export async function findPromtool(): Promise<string | null> {
  try {
    const { directory } = await unpackDebian([{ name: 'prometheus', least: [2, 42, 0] }]);
    return join(directory, 'usr/bin/promtool');
  } catch (error) {
    if (error instanceof ToolsError && error.code === 'SLW_TOOLS_NO_APT') return null;
    throw error;
  }
}

/** Checks the rules, and evaluates them on the samples of each test. Throws a RunError with every difference. */
export async function testAlerts(
  promtool: string,
  groups: readonly RuleGroup[],
  tests: readonly AlertTest[],
): Promise<void> {
  const place = await mkdtemp(join(tmpdir(), 'slipway-promtool-'));
  try {
    const [rules, test] = [join(place, 'rules.json'), join(place, 'test.json')];
    await writeFile(rules, JSON.stringify({ groups }));
    await writeFile(test, JSON.stringify({ rule_files: [rules], evaluation_interval: '1m', tests: tests.map(toTest) }));
    await run(promtool, ['check', 'rules', rules]);
    await run(promtool, ['test', 'rules', test]);
  } finally {
    await rm(place, { recursive: true });
  }
}

const toTest = ({ name, alert, samples, states, fires }: AlertTest): object => ({
  name,
  interval: '1m',
  input_series: Object.entries(samples).map(([series, values]) => ({ series, values: formatValues(values) })),
  alert_rule_test: [
    {
      eval_time: `${fires.minute}m`,
      alertname: alert,
      exp_alerts: [{ exp_labels: fires.labels, exp_annotations: fires.annotations }],
    },
  ],
  promql_expr_test: states.map(({ minute, state }) => ({
    eval_time: `${minute}m`,
    expr: `count by (alertstate) (ALERTS{alertname="${alert}"})`,
    exp_samples: state === null ? [] : [{ labels: `{alertstate="${state}"}`, value: 1 }],
  })),
});

/** A scrape without a series marks it as stale; without the mark, it would keep its value for five minutes. */
const formatValues = (values: readonly (number | null)[]): string =>
  values.map((value, at) => value ?? (typeof values[at - 1] === 'number' ? 'stale' : '_')).join(' ');

/** The series of these metrics in pages of /metrics, one a minute. */
export function readSamples(pages: readonly string[], metric: string): Samples {
  const samples: Record<string, (number | null)[]> = {};
  for (const [minute, page] of pages.entries()) {
    for (const line of page.split('\n').filter((each) => each.startsWith(`${metric}{`))) {
      const end = line.lastIndexOf(' ');
      const values = (samples[line.slice(0, end)] ??= pages.map(() => null));
      values[minute] = Number(line.slice(end));
    }
  }
  return samples;
}
