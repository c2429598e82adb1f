// The commands that only look at a cluster, in the process of a test: starting one for each costs a second.
import { bootImagesCommand } from '../bootimages/command.ts';
import { dataImageCommand } from '../dataimage/command.ts';
import { historyCommand } from '../history/command.ts';
import { pinCommand } from '../pin/command.ts';
import { statusCommand } from '../status/command.ts';
import { streamsCommand } from '../streams/command.ts';
import { whyCommand } from '../why/command.ts';
import { type Ran, runCommand } from './run-command.ts';

const commands = {
  status: statusCommand,
  why: whyCommand,
  history: historyCommand,
  streams: streamsCommand,
  bootimages: bootImagesCommand,
  pin: pinCommand,
  dataimage: dataImageCommand,
} as const;

export const look = (kubeconfig: string, command: keyof typeof commands, ...args: string[]): Promise<Ran> =>
  runCommand(commands[command], [...args, '--kubeconfig', kubeconfig]);
