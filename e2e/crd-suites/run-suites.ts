import type { Cluster } from './cluster.ts';
import { ensureCrd, type InstalledCrd } from './installed-crd.ts';
import { knownExceptions, type KnownException } from './known-exceptions.ts';
import type { Wording } from './refusal.ts';
import { runCase, type CaseVerdict } from './run-case.ts';
import { readExpectation, loadSuites, type Suite } from './suite.ts';

export interface CaseResult extends CaseVerdict {
  name: string;
  expects: 'accept' | 'reject';
  /** Why the case cannot hold. */
  exception?: string;
}

export interface SuiteResult {
  file: string;
  crdName: string;
  cases: CaseResult[];
}

/** A case on the list must fail, and one that is not must hold. */
function judge(
  { wrong, refusal }: CaseVerdict,
  exception: KnownException | undefined,
): Omit<CaseResult, 'name' | 'expects'> {
  if (exception === undefined)
    return { ...(wrong !== undefined && { wrong }), ...(refusal !== undefined && { refusal }) };
  return wrong === undefined
    ? { wrong: `holds, though it is a known exception: ${exception.reason}` }
    : { exception: exception.reason };
}

export interface RunOptions {
  /** `exact` for suites of our own. */
  wording?: Wording;
  exceptions?: readonly KnownException[];
  /** Told after each suite. */
  onSuite?: (result: SuiteResult) => void;
}

async function runSuite(
  cluster: Cluster,
  crd: InstalledCrd,
  suite: Suite,
  { wording = 'place', exceptions = knownExceptions }: RunOptions,
): Promise<SuiteResult> {
  const { file, crdName } = suite;
  const cases: CaseResult[] = [];
  for (const testCase of suite.cases) {
    const exception = exceptions.find((known) => known.crdName === crdName && known.name === testCase.name);
    const outcome = await runCase(cluster, crd, testCase, wording);
    cases.push({ name: testCase.name, expects: readExpectation(testCase), ...judge(outcome, exception) });
  }
  return { file, crdName, cases };
}

/** All at once: the server takes some seconds until it serves a new kind, but the same for many. */
async function ensureCrds(cluster: Cluster, names: Set<string>): Promise<Map<string, InstalledCrd>> {
  return new Map(await Promise.all([...names].map(async (name) => [name, await ensureCrd(cluster, name)] as const)));
}

function crdIn(crds: Map<string, InstalledCrd>, { crdName }: Suite): InstalledCrd {
  const crd = crds.get(crdName);
  if (crd === undefined) throw new Error(`CRD ${crdName} was not looked up`);
  return crd;
}

/**
 * Runs every suite below a directory against a cluster, one case after another: CRDs and the names of singletons
 * belong to the whole cluster.
 */
export async function runSuites(directory: string, cluster: Cluster, options: RunOptions = {}): Promise<SuiteResult[]> {
  const suites = await loadSuites(directory);
  const crds = await ensureCrds(cluster, new Set(suites.map(({ crdName }) => crdName)));
  const results: SuiteResult[] = [];
  for (const suite of suites) {
    const result = await runSuite(cluster, crdIn(crds, suite), suite, options);
    options.onSuite?.(result);
    results.push(result);
  }
  return results;
}

const count = (cases: readonly CaseResult[], which: (result: CaseResult) => boolean): number =>
  cases.filter((result) => which(result)).length;

/** For example `4 accepts, 3 rejects, 0 wrong`. */
export function summary(cases: readonly CaseResult[]): string {
  const exceptions = count(cases, ({ exception }) => exception !== undefined);
  return [
    `${count(cases, ({ expects }) => expects === 'accept')} accepts`,
    `${count(cases, ({ expects }) => expects === 'reject')} rejects`,
    `${count(cases, ({ wrong }) => wrong !== undefined)} wrong`,
    ...(exceptions > 0 ? [`${exceptions} known exceptions`] : []),
  ].join(', ');
}

/** The lines for one suite: its summary, then what is wrong or excepted, then (if asked for) our refusals. */
export function suiteLines({ file, cases }: SuiteResult, verbose: boolean): string[] {
  return [
    `${file}: ${summary(cases)}`,
    ...cases.flatMap(({ name, wrong, exception, refusal }) => [
      ...(wrong === undefined ? [] : [`  WRONG ${name}: ${wrong}`]),
      ...(exception === undefined ? [] : [`  known exception ${name}: ${exception}`]),
      ...(verbose && refusal !== undefined ? [`  refused ${name}: ${refusal}`] : []),
    ]),
  ];
}
