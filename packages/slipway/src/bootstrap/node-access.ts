import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { isRecord } from '@slipway/base/json';
import type { JoiningNode } from '@slipway/fleet';
import { loadKubeconfig } from '@slipway/kube';
import { CommandError, InputError } from '../cli/errors.ts';
import { readYaml } from '../ignition/manifest-yaml.ts';
import { reasonOf } from '../manifests/find-files.ts';

/** Both travel inside every config that is served. */
const MAX_BYTES = 256 * 1024;

/** What joining machines are given: the kubeconfig as it is, and the CA from its own file or else from the kubeconfig. */
export async function readNodeAccess(kubeconfigFile: string, caFile: string | undefined): Promise<JoiningNode> {
  const kubeconfig = await readInput('--kubeconfig-for-nodes', kubeconfigFile);
  checkKubeconfig(kubeconfigFile, kubeconfig);
  const caBundle = caFile === undefined ? await embeddedCa(kubeconfigFile) : await readInput('--ca', caFile);
  if (!holdsCertificates(caBundle)) {
    throw bad(`--ca ${caFile ?? kubeconfigFile}`, 'expected certificates in PEM, found something else');
  }
  return { kubeconfig, caBundle };
}

async function readInput(flag: string, file: string): Promise<string> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    throw bad(`${flag} ${file}`, `cannot be read: ${reasonOf(error)}`);
  }
  if (text.length > MAX_BYTES)
    throw bad(`${flag} ${file}`, `expected at most ${MAX_BYTES} bytes, found ${text.length}`);
  return text;
}

/** Paths in it are of the machine it will be on, so what they lead to is not looked at. */
function checkKubeconfig(file: string, text: string): void {
  const expected = 'expected a kubeconfig with clusters and users';
  try {
    const value = readYaml(file, text);
    if (isRecord(value) && Array.isArray(value['clusters']) && Array.isArray(value['users'])) return;
  } catch (failure) {
    if (!(failure instanceof InputError)) throw failure;
  }
  throw bad(`--kubeconfig-for-nodes ${file}`, `${expected}, found something else`);
}

async function embeddedCa(kubeconfigFile: string): Promise<string> {
  const { ca } = await loadKubeconfig([kubeconfigFile]);
  if (ca !== undefined) return ca;
  throw bad(
    `--kubeconfig-for-nodes ${kubeconfigFile}`,
    'names no certificate authority of the API server; give its file with --ca',
  );
}

function holdsCertificates(text: string): boolean {
  try {
    return new X509Certificate(text).subject !== undefined;
  } catch {
    return false;
  }
}

function bad(what: string, problem: string): CommandError {
  return new CommandError('SLW_CLI_BOOTSTRAP_INPUT', `${what}: ${problem}`);
}
