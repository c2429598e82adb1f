// Runs commands in the test process, with the output and exit code that a user sees: a separate process costs a second
// each. Other tests start each command as a separate process too.
import { bootImagesCommand } from '../bootimages/command.ts';
import { dataImageCommand } from '../dataimage/command.ts';
import { diffCommand } from '../diff/command.ts';
import { explainCommand } from '../explain/command.ts';
import { failureText } from '../cli/errors.ts';
import { historyCommand } from '../history/command.ts';
import { ignitionCommand } from '../ignition/command.ts';
import { pinCommand } from '../pin/command.ts';
import { planCommand } from '../plan/command.ts';
import { renderCommand } from '../render/command.ts';
import { cancelCommand, pauseCommand, resumeCommand, rollbackCommand } from '../rollout/command.ts';
import { statusCommand } from '../status/command.ts';
import { streamsCommand } from '../streams/command.ts';
import { validateCommand } from '../validate/command.ts';
import { whyCommand } from '../why/command.ts';
import { type CommandResult, runCommand } from './run-command.ts';

const commands = {
  bootimages: bootImagesCommand,
  cancel: cancelCommand,
  dataimage: dataImageCommand,
  diff: diffCommand,
  explain: explainCommand,
  history: historyCommand,
  ignition: ignitionCommand,
  pause: pauseCommand,
  pin: pinCommand,
  plan: planCommand,
  render: renderCommand,
  resume: resumeCommand,
  rollback: rollbackCommand,
  status: statusCommand,
  streams: streamsCommand,
  validate: validateCommand,
  why: whyCommand,
} as const;

export type InProcessCommand = keyof typeof commands;

export const runInProcess = (command: InProcessCommand, ...args: readonly string[]): Promise<CommandResult> =>
  runCommand(commands[command], args, '', (failure) => failureText(failure, false));
