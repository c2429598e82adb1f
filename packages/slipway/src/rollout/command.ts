import { Command, Option } from 'commander';
import { type Io, processIo } from '../cli/io.ts';
import { outputOption, secondsParser, withClusterOptions } from '../cli/options.ts';
import type { CancelOptions, PauseOptions, ResumeOptions, RollbackOptions } from './rollout.ts';

/** A controller answers in well under a second; one that has just started reads the cluster first. */
const DEFAULT_WAIT_SECONDS = 15;

/** For what the controllers have to answer. */
const withAnswerOptions = (command: Command): Command =>
  withClusterOptions(command)
    .addOption(
      new Option('--wait <SECONDS>', 'how long to wait for the controller’s answer')
        .default(DEFAULT_WAIT_SECONDS)
        .argParser(secondsParser(3600)),
    )
    .addOption(outputOption(['text', 'json'], 'how to report'));

export const pauseCommand = (io: Io = processIo): Command =>
  withClusterOptions(new Command('pause'))
    .summary('give no machine of a pool, or of any pool, a new config')
    .description(
      'Pauses a pool (spec.paused), or stops the rollouts of all pools at once. Machines that are on their way finish; no other begins.',
    )
    .argument('[POOL]', 'the pool to pause')
    .option('--all', 'stop the whole fleet')
    .option('--reason <TEXT>', 'why the fleet is stopped, for everybody who looks')
    .addOption(outputOption(['text', 'json'], 'how to report'))
    .addHelpText(
      'after',
      `
Examples:
  slipway pause worker
  slipway pause --all --reason "storage maintenance until 18:00"`,
    )
    .action(async (pool: string | undefined, options: PauseOptions) =>
      (await import('./rollout.ts')).runPause(pool, options, io),
    );

export const resumeCommand = (io: Io = processIo): Command =>
  withAnswerOptions(new Command('resume'))
    .summary('let a pool, or all of them, go on')
    .description(
      'Ends the pause of a pool; where its rollout has halted or its target is held by a cancel, a rollback or an automatic return, ends that too. With --all: ends the stop of the whole fleet.',
    )
    .argument('[POOL]', 'the pool to resume')
    .option('--all', 'let the whole fleet go on')
    .addHelpText(
      'after',
      `
Examples:
  slipway resume worker
  slipway resume --all`,
    )
    .action(async (pool: string | undefined, options: ResumeOptions) =>
      (await import('./rollout.ts')).runResume(pool, options, io),
    );

export const cancelCommand = (io: Io = processIo): Command =>
  withAnswerOptions(new Command('cancel'))
    .summary('end a rollout: machines that were changed go back')
    .description(
      'Asks the controller to end the rollout of a pool: machines that were given its config go back to the last good one. The pool stays there until something new is rendered or it is resumed.',
    )
    .argument('<POOL>', 'the pool whose rollout is to end')
    .addHelpText(
      'after',
      `
Examples:
  slipway cancel worker`,
    )
    .action(async (pool: string, options: CancelOptions) =>
      (await import('./rollout.ts')).runCancel(pool, options, io),
    );

export const rollbackCommand = (io: Io = processIo): Command =>
  withAnswerOptions(new Command('rollback'))
    .summary('bring a pool back to an earlier rendered config')
    .description(
      'Asks the controller to bring all machines of a pool to an earlier rendered config, in waves like every rollout: the one before the present, or the one that --to names.',
    )
    .argument('<POOL>', 'the pool to bring back')
    .option('--to <NAME>', 'the rendered config: its name, or the beginning of its hash')
    .addHelpText(
      'after',
      `
Examples:
  slipway rollback worker
  slipway rollback worker --to 1f2e3d4c`,
    )
    .action(async (pool: string, options: RollbackOptions) =>
      (await import('./rollout.ts')).runRollback(pool, options, io),
    );
