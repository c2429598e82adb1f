import { isOfVersion, merge, parse, validate, type ConfigOf } from '@slipway/ignition';
import { Oracle } from '@slipway/tools/ignition-oracle';

// Two configs of 200 files of 1 kB and 20 units, half of them with the same keys: a cluster's base and a team's config.
const FILES = 200;
const UNITS = 20;
const WARM_UP = 200;
// Alternating, so that load on the machine affects both; the median counts.
const TURNS = 7;
const OUR_ROUNDS = 60;
const THEIR_ROUNDS = 12;

const texts = [configText(0), configText(FILES / 2)];
const inputs = texts.map((text) => new TextEncoder().encode(text));

const oracle = await Oracle.start();
try {
  await compare(oracle);
} finally {
  await oracle.close();
}

async function compare(oracle: Oracle): Promise<void> {
  for (let round = 0; round < WARM_UP; round += 1) runOurs();
  await runTheirs(oracle, THEIR_ROUNDS);
  const ours: number[] = [];
  const theirs: number[] = [];
  for (let turn = 0; turn < TURNS; turn += 1) {
    ours.push(measureOurs());
    theirs.push(await measureTheirs(oracle));
  }
  printResults(median(ours), median(theirs), {
    ours: process.resourceUsage().maxRSS,
    theirs: (await usage(oracle)).maxRssKiB,
  });
}

function printResults(ours: number, theirs: number, kibibytes: { ours: number; theirs: number }): void {
  const ratio = theirs / ours;
  const mebibytes = (value: number) => `${(value / 1024).toFixed(0)} MiB`;
  console.log(`two configs of ${FILES} files of 1 kB and ${UNITS} units, ${inputs[0]?.length} bytes each`);
  console.log(`Slipway: ${ours.toFixed(2)} ms of CPU per merge; at most ${mebibytes(kibibytes.ours)} resident`);
  console.log(`Go:      ${theirs.toFixed(2)} ms of CPU per merge; at most ${mebibytes(kibibytes.theirs)} resident`);
  console.log(
    `Slipway uses ${ratio.toFixed(1)} times less CPU (the Go library in one process, without the line protocol)`,
  );
  const figures = { ours: round(ours), theirs: round(theirs), ratio: round(ratio) };
  console.log(JSON.stringify({ bench: 'ignition', metric: 'parse validate merge cpu', unit: 'ms', ...figures }));
}

/** Milliseconds of CPU for one merge. */
function measureOurs(): number {
  const before = process.cpuUsage();
  for (let round = 0; round < OUR_ROUNDS; round += 1) runOurs();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000 / OUR_ROUNDS;
}

function runOurs(): void {
  const configs = inputs.map((input, index) => ({ name: `config ${index}`, config: load(input) }));
  const { config } = merge(configs);
  const files = config.storage?.files?.length;
  if (files !== FILES * 1.5) throw new Error(`expected ${FILES * 1.5} merged files, found ${files}`);
}

function load(input: Uint8Array): ConfigOf<'3.5.0'> {
  const parsed = parse(input);
  if (parsed.config === null || !isOfVersion(parsed.config, '3.5.0'))
    throw new Error('the config of the benchmark does not parse');
  if (validate(parsed.config).some(({ kind }) => kind === 'error')) throw new Error('the config is not valid');
  return parsed.config;
}

async function measureTheirs(oracle: Oracle): Promise<number> {
  const before = await usage(oracle);
  await runTheirs(oracle, THEIR_ROUNDS);
  const after = await usage(oracle);
  return (after.cpuMicros - before.cpuMicros) / 1000 / THEIR_ROUNDS;
}

async function runTheirs(oracle: Oracle, times: number): Promise<void> {
  // As objects, so that the Go side need not decode a string first.
  const configs = texts.map((text): object => JSON.parse(text));
  const answer = await oracle.ask({ op: 'bench', configs, to: '3.5.0', times });
  if (answer.stage !== 'done') throw new Error(`the oracle refused the benchmark: ${JSON.stringify(answer.report)}`);
}

async function usage(oracle: Oracle): Promise<{ cpuMicros: number; maxRssKiB: number }> {
  const { result } = await oracle.ask({ op: 'rusage' });
  return result as { cpuMicros: number; maxRssKiB: number };
}

function configText(first: number): string {
  const files = Array.from({ length: FILES }, (_, index) => ({
    path: `/etc/app/conf.d/${first + index}.conf`,
    overwrite: true,
    mode: 0o644,
    user: { name: 'root' },
    contents: { source: `data:text/plain;charset=utf-8;base64,${kilobyte(first + index)}` },
  }));
  const units = Array.from({ length: UNITS }, (_, index) => ({
    name: `app-${first + index}.service`,
    enabled: true,
    contents: `[Unit]\nDescription=App ${index}\nAfter=network-online.target\n\n[Service]\nExecStart=/usr/bin/app --number ${index}\nRestart=always\n\n[Install]\nWantedBy=multi-user.target\n`,
    dropins: [{ name: '10-limits.conf', contents: '[Service]\nLimitNOFILE=65536\n' }],
  }));
  return JSON.stringify({ ignition: { version: '3.5.0' }, storage: { files }, systemd: { units } });
}

function kilobyte(number: number): string {
  return Buffer.from(`# file ${number}\n`.padEnd(1023, `key${number} = value\n`) + '\n').toString('base64');
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}
