import { createHash } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ToolsError } from '../controlplane/errors.ts';
import { run, RunError } from '../run.ts';
import { findLibraries, readOffers, type Offer } from './offer.ts';

/** apt's knowledge, from the machine's package lists or from private ones. */
export interface Apt {
  /** The newest version of each package in the signed index, and of the shared libraries it needs. */
  offers(packages: readonly string[]): Promise<Offer[]>;
  /** Downloads into this directory; every file has the checksum from the index. */
  download(offers: readonly Offer[], directory: string): Promise<void>;
}

// A download has a few MB: a mirror that takes longer than this will not respond.
const TIMEOUT_MS = 300_000;

/** The machine's lists; they may be empty (as in most container images) or outdated. */
export function machineApt(env: NodeJS.ProcessEnv): Apt {
  return aptWith([], env);
}

/** Fetches the lists of the machine's sources into a private directory, which needs no root. */
export async function privateApt(directory: string, env: NodeJS.ProcessEnv): Promise<Apt> {
  for (const part of ['state/lists/partial', 'cache/archives/partial']) {
    await mkdir(join(directory, part), { recursive: true });
  }
  const options = [
    `Dir::State=${join(directory, 'state')}`,
    'Dir::State::status=/dev/null',
    `Dir::Cache=${join(directory, 'cache')}`,
    // Translations and descriptions of desktop programs are a large part of an update, and not needed.
    'Acquire::Languages=none',
    'Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false',
  ];
  await runApt('apt-get', ['update'], { options, env });
  return aptWith(options, env);
}

function aptWith(options: readonly string[], env: NodeJS.ProcessEnv): Apt {
  return {
    async offers(packages) {
      const graph = await runApt('apt-cache', ['depends', '--recurse', ...onlyDepends, ...packages], { options, env });
      const wanted = [...packages, ...findLibraries(graph, packages)];
      return readOffers(await runApt('apt-get', ['download', '--print-uris', ...wanted], { options, env }), wanted);
    },
    async download(offers, directory) {
      const exact = offers.map(({ name, version }) => `${name}=${version}`);
      await runApt('apt-get', ['download', ...exact], { options, env, cwd: directory });
      for (const offer of offers) await checkSum(join(directory, offer.file), offer);
    },
  };
}

const onlyDepends = ['recommends', 'suggests', 'conflicts', 'breaks', 'replaces', 'enhances'].map(
  (kind) => `--no-${kind}`,
);

/** apt has already verified it; this holds whatever apt's settings are. */
async function checkSum(path: string, { name, sha256 }: Offer): Promise<void> {
  const found = createHash('sha256')
    .update(await readFile(path))
    .digest('hex');
  if (found === sha256) return;
  throw new ToolsError(
    'SLW_TOOLS_PACKAGE',
    `Debian's package ${name}: expected SHA-256 ${sha256} from the index, the download has ${found}: retry, or use another mirror`,
  );
}

/** Settings of the machine for other purposes must not turn off the verification of the index. */
const onlySigned = [
  'APT::Get::AllowUnauthenticated=false',
  'Acquire::AllowInsecureRepositories=false',
  'Acquire::AllowWeakRepositories=false',
  'Acquire::AllowDowngradeToInsecureRepositories=false',
];

interface AptRun {
  options: readonly string[];
  env: NodeJS.ProcessEnv;
  cwd?: string;
}

async function runApt(program: string, args: readonly string[], { options, env, cwd }: AptRun): Promise<string> {
  // Otherwise root's downloads run as the user _apt, which cannot write to a private directory.
  const all = ['APT::Sandbox::User=root', 'quiet=2', ...onlySigned, ...options].flatMap((option) => ['-o', option]);
  try {
    return await run(program, [...all, ...args], {
      env: { ...env, LC_ALL: 'C', DEBIAN_FRONTEND: 'noninteractive' },
      timeoutMs: TIMEOUT_MS,
      cwd,
    });
  } catch (error) {
    throw aptError([program, ...args].join(' '), error);
  }
}

function aptError(command: string, error: unknown): unknown {
  if (!(error instanceof RunError)) return error;
  if (error.isMissing) {
    return new ToolsError(
      'SLW_TOOLS_NO_APT',
      'the tests run real programs from Debian packages, but there is no apt-get on PATH: run them on Debian or in a Debian container',
    );
  }
  return new ToolsError('SLW_TOOLS_PACKAGE', `${command} failed: ${error.said.slice(-1000)}`, { cause: error });
}
