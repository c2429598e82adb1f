import { parseArgs } from 'node:util';
import { startControlPlane } from '@slipway/tools/controlplane';
import { connectToCluster } from './cluster.ts';
import { runSuites, suiteLines, summary } from './run-suites.ts';

const USAGE = `Runs CRD test suites against a real kube-apiserver.

  node e2e/crd-suites/run.ts DIRECTORY [--kubeconfig FILE] [--exact] [--quiet]

Without --kubeconfig a control plane is started for it. CRDs of ours that are absent are installed.
An expected error counts by the field it names; with --exact the whole of it must be in the server's answer.
--quiet leaves out the wording of refusals.`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    kubeconfig: { type: 'string' },
    exact: { type: 'boolean', default: false },
    quiet: { type: 'boolean', default: false },
  },
});
const [directory] = positionals;

async function run(suites: string, kubeconfig: string): Promise<number> {
  const cluster = await connectToCluster(kubeconfig);
  try {
    const onSuite = (result: Parameters<typeof suiteLines>[0]) =>
      console.log(suiteLines(result, !values.quiet).join('\n'));
    const cases = (await runSuites(suites, cluster, { onSuite, wording: values.exact ? 'exact' : 'place' })).flatMap(
      (result) => result.cases,
    );
    if (cases.length === 0) console.log(`no suites below ${suites}`);
    console.log(`total: ${summary(cases)}`);
    return cases.length === 0 || cases.some(({ wrong }) => wrong !== undefined) ? 1 : 0;
  } finally {
    await cluster.close();
  }
}

async function runOnOwnControlPlane(suites: string): Promise<number> {
  const controlPlane = await startControlPlane();
  try {
    return await run(suites, controlPlane.kubeconfig);
  } finally {
    await controlPlane.stop();
  }
}

if (directory === undefined) {
  console.error(USAGE);
  process.exitCode = 2;
} else {
  process.exitCode = await (values.kubeconfig === undefined
    ? runOnOwnControlPlane(directory)
    : run(directory, values.kubeconfig));
}
