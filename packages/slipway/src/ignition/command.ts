// `slipway ignition …`: the Ignition library as commands.
import { maskedDiff } from '@slipway/fleet/masking';
import {
  diffConfigs,
  formatDiff,
  isAddressRange,
  isSpecVersion,
  resolve,
  SPEC_VERSIONS,
  type SpecVersion,
  translate,
} from '@slipway/ignition';
import { Command, InvalidArgumentError, Option } from 'commander';
import { InputError } from '../cli/errors.ts';
import { type Io, processIo, toJson, write } from '../cli/io.ts';
import { addTo, readSeconds, showSecretsOption } from '../cli/options.ts';
import { fetchPolicy } from '../render/remote-content.ts';
import { runBatch } from './batch.ts';
import { validateConfigs } from './validate-configs.ts';
import { DEFAULT_TARGET, isSpec3, mergeAll } from './combine.ts';
import {
  writeResult,
  checkResult,
  guarded,
  lines,
  type OutputOptions,
  readTwo,
  readUsable,
  reportLines,
} from './input.ts';

const FILE_HELP = `
FILE is an Ignition config in JSON or a MachineConfig in YAML or JSON (its spec.config is used); "-" reads stdin.`;

export function ignitionCommand(io: Io = processIo): Command {
  const command = new Command('ignition').description('check, merge, translate, resolve and compare Ignition configs');
  command.addCommand(validateCommand(io));
  command.addCommand(mergeCommand(io));
  command.addCommand(translateCommand(io));
  command.addCommand(resolveCommand(io));
  command.addCommand(diffCommand(io));
  command.addCommand(batchCommand(io));
  return command.addHelpText('after', FILE_HELP);
}

function validateCommand(io: Io): Command {
  return subcommand('validate', 'validate configs; exits with 0 only if there are no errors')
    .argument('<FILE...>', 'configs')
    .addHelpText(
      'after',
      examples(
        'slipway ignition validate worker.ign',
        'kubectl get mc 99-worker -o yaml | slipway ignition validate -',
        'slipway ignition validate fleet/*.yaml',
      ),
    )
    .action(guarded(io, 1, (files: string[], { output }: OutputOptions) => validateConfigs(files, output, io)));
}

function mergeCommand(io: Io): Command {
  return subcommand('merge', 'merge configs; the first is the base, and each later one overrides it')
    .argument('<FILE...>', 'configs')
    .addOption(targetOption().default(DEFAULT_TARGET))
    .option('--provenance', 'with -o json: also show which FILE set each field and which ones it overrode')
    .addHelpText(
      'after',
      examples(
        'slipway ignition merge base.ign 50-worker.yaml 99-extra.yaml',
        'slipway ignition merge a.ign b.ign --to 3.4.0 -o json --provenance',
      ),
    )
    .action(
      guarded(io, 1, async (files: string[], options: OutputOptions & { to: SpecVersion; provenance?: boolean }) => {
        if (!isSpec3(options.to))
          throw new InputError(`--to: expected a 3.x version, found ${options.to}. Only specs 3.x can be merged`);
        const inputs = await readUsable(files, io);
        const { result, report, provenance } = mergeAll(inputs, options.to);
        const showsProvenance = options.provenance === true && provenance !== undefined;
        const extra = showsProvenance ? { provenance: Object.fromEntries(provenance) } : {};
        await writeResult(io, options, checkResult(result, report), extra);
      }),
    );
}

function translateCommand(io: Io): Command {
  return subcommand('translate', 'translate a config to another spec version, or explain why that is impossible')
    .argument('<FILE>', 'config')
    .addOption(targetOption().makeOptionMandatory())
    .addHelpText(
      'after',
      examples('slipway ignition translate --to 3.5.0 old.ign', 'slipway ignition translate --to 3.2.0 - < new.ign'),
    )
    .action(
      guarded(io, 1, async (file: string, options: OutputOptions & { to: SpecVersion }) => {
        const [input] = await readUsable([file], io);
        const { config, report } = translate(input.config, options.to);
        await writeResult(io, options, { result: config, report });
      }),
    );
}

interface ResolveFlags extends OutputOptions {
  allowHost?: string[];
  allowAddress?: string[];
  compress: boolean;
  timeout: number;
}

function resolveCommand(io: Io): Command {
  return subcommand('resolve', 'fetch everything that a config refers to and embed it')
    .argument('<FILE>', 'config')
    .option(
      '--allow-host <HOST>',
      'fetch only from this host, such as files.example.com or *.example.com; repeatable',
      addTo,
    )
    .option(
      '--allow-address <CIDR>',
      'allow these private, loopback, link-local or metadata addresses; repeatable',
      addTo,
    )
    .option('--no-compress', 'do not gzip large contents')
    .addOption(
      new Option('--timeout <SECONDS>', 'timeout for all fetches together').default(300).argParser(readSeconds),
    )
    .addHelpText(
      'after',
      examples(
        'slipway ignition resolve 99-worker.yaml',
        'slipway ignition resolve --allow-host files.example.com --timeout 30 worker.ign',
        'slipway ignition resolve --allow-address 127.0.0.0/8 local.ign',
      ),
    )
    .action(
      guarded(io, 1, async (file: string, flags: ResolveFlags) => {
        for (const range of flags.allowAddress ?? []) {
          if (!isAddressRange(range))
            throw new InputError(`--allow-address ${range}: expected an address or a range such as 10.0.0.0/8`);
        }
        const [input] = await readUsable([file], io);
        // Loaded late: the other subcommands need no HTTP client.
        const { createFetcher } = await import('../processes/controllers.ts');
        const { config, report } = await resolve(input.config, {
          name: input.name,
          fetch: createFetcher(),
          hosts: fetchPolicy(flags.allowHost, flags.allowAddress),
          limits: { timeMs: flags.timeout * 1000 },
          compress: flags.compress,
        });
        await writeResult(io, flags, { result: config, report });
      }),
    );
}

function diffCommand(io: Io): Command {
  return subcommand('diff', 'show what differs; exits with 0 if nothing does, 1 if something does, 2 on an error')
    .argument('<FILE>', 'config before the change')
    .argument('<FILE>', 'config after the change')
    .addOption(showSecretsOption())
    .addHelpText(
      'after',
      examples(
        'slipway ignition diff old.ign new.ign',
        'kubectl get mc 99-worker -o yaml | slipway ignition diff - 99-worker.yaml',
      ),
    )
    .action(
      guarded(io, 2, async (before: string, after: string, options: OutputOptions & { showSecrets?: boolean }) => {
        const [a, b] = await readTwo(before, after, io);
        const diff = await diffConfigs(a.config, b.config, maskedDiff({ showSecrets: options.showSecrets ?? false }));
        if (diff.items === null)
          await write(
            io.stderr,
            lines(reportLines('the two configs cannot be translated to the same spec version', diff.report)),
          );
        if (options.output === 'json') await write(io.stdout, toJson(diff, options), options);
        else if (diff.items !== null) await write(io.stdout, formatDiff(diff.items), options);
        io.setExitCode(diff.items === null ? 2 : Math.min(diff.items.length, 1));
      }),
    );
}

function batchCommand(io: Io): Command {
  return new Command('batch')
    .description('read requests from stdin and print responses, one JSON object per line')
    .addHelpText(
      'after',
      `
A request:  {"id":1,"op":"parse|validate|translate|merge","configs":[…],"to":"3.5.0"}
  A config is an object, or a string with its exact bytes. merge: the first is the base; "to" defaults to 3.5.0.
A response: {"id":1,"result":…|null,"report":[{"kind","path","message"}]}
  Responses have the order of the requests. An invalid line gets an error as response; the batch continues.
${examples(`echo '{"id":1,"op":"validate","configs":[{"ignition":{"version":"3.5.0"}}]}' | slipway ignition batch`)}`,
    )
    .action(guarded(io, 1, () => runBatch(io)));
}

function subcommand(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .addOption(new Option('-o, --output <FORMAT>', 'output format').choices(['text', 'json']).default('text'))
    .addHelpText('after', FILE_HELP);
}

function targetOption(): Option {
  return new Option('--to <VERSION>', 'spec version of the result').argParser(readVersion);
}

function readVersion(text: string): SpecVersion {
  if (isSpecVersion(text)) return text;
  throw new InvalidArgumentError(`expected one of ${SPEC_VERSIONS.join(', ')}, found ${JSON.stringify(text)}`);
}

function examples(...commands: string[]): string {
  return `\nExamples:\n${commands.map((command) => `  ${command}`).join('\n')}`;
}
