import { Command, Option } from 'commander';
import { type Io, processIo } from '../cli/io.ts';
import { outputOption, secondsParser, withClusterOptions } from '../cli/options.ts';
import type { CancelOptions, PauseOptions, ResumeOptions, RollbackOptions } from './rollout.ts';

/** A controller answers in well under a second, but one that has just started reads the cluster first. */
const DEFAULT_WAIT_SECONDS = 15;

/** For requests that the controller answers. */
const withAnswerOptions = (command: Command): Command =>
  withClusterOptions(command)
    .addOption(
      new Option('--wait <SECONDS>', 'timeout for the controller’s answer')
        .default(DEFAULT_WAIT_SECONDS)
        .argParser(secondsParser(3600)),
    )
    .addOption(outputOption(['text', 'json']));

export const pauseCommand = (io: Io = processIo): Command =>
  withClusterOptions(new Command('pause'))
    .summary('stop rolling out new configs to a pool, or to all pools')
    .description(
      'Pauses a pool (spec.paused), or stops the rollouts of all pools. Updates in progress finish; no other machine starts one.',
    )
    .argument('[POOL]', 'pool to pause')
    .option('--all', 'stop the rollouts of all pools')
    .option('--reason <TEXT>', 'why rollouts are stopped; slipway status shows it')
    .addOption(outputOption(['text', 'json']))
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
    .summary('continue the rollout of a pool, or of all pools')
    .description(
      'Unpauses a pool. If the pool is not paused, continues a halted rollout, or releases a target that a cancel, a rollback or an automatic rollback holds. With --all, ends a stop of all rollouts.',
    )
    .argument('[POOL]', 'pool to resume')
    .option('--all', 'continue the rollouts of all pools')
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
    .summary('cancel a rollout and roll its machines back')
    .description(
      'Requests that the controller cancel the rollout of a pool. Machines that were assigned its config roll back to the last good one. The pool stays there until a new config is rendered or the pool is resumed.',
    )
    .argument('<POOL>', 'pool of the rollout')
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
    .summary('roll a pool back to an earlier rendered config')
    .description(
      'Requests that the controller roll all machines of a pool back to the previous rendered config, or to the one that --to names. It proceeds in waves like every rollout.',
    )
    .argument('<POOL>', 'pool to roll back')
    .option('--to <NAME>', 'rendered config: its name, or the first characters of its hash')
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
