import { Command } from 'commander';
import { bootImagesCommand } from './bootimages/command.ts';
import { bootstrapCommand } from './bootstrap/command.ts';
import { runProgram, version } from './cli/program.ts';
import { dataImageCommand } from './dataimage/command.ts';
import { diffCommand } from './diff/command.ts';
import { explainCommand } from './explain/command.ts';
import { historyCommand } from './history/command.ts';
import { ignitionCommand } from './ignition/command.ts';
import { pinCommand } from './pin/command.ts';
import { planCommand } from './plan/command.ts';
import { controllerCommand, installCommand, serverCommand, startCommand } from './processes/command.ts';
import { daemonCommand } from './processes/daemon-command.ts';
import { renderCommand } from './render/command.ts';
import { cancelCommand, pauseCommand, resumeCommand, rollbackCommand } from './rollout/command.ts';
import { statusCommand } from './status/command.ts';
import { streamsCommand } from './streams/command.ts';
import { validateCommand } from './validate/command.ts';
import { whyCommand } from './why/command.ts';

const program = new Command('slipway')
  .description(
    'Slipway configures the operating systems of a fleet of Kubernetes machines, from first boot on, and rolls out changes safely.',
  )
  .version(version, '-V, --version')
  .helpCommand('help [command]', 'show help for a command')
  // `streams` and its subcommands share flag names, so a flag must belong to the command that it follows.
  .enablePositionalOptions()
  .addCommand(startCommand())
  .addCommand(installCommand())
  .addCommand(controllerCommand())
  .addCommand(serverCommand())
  .addCommand(daemonCommand(async (options) => (await import('@slipway/simulator')).createSimulatedHost(options)))
  .addCommand(planCommand())
  .addCommand(statusCommand())
  .addCommand(whyCommand())
  .addCommand(streamsCommand())
  .addCommand(bootImagesCommand())
  .addCommand(pinCommand())
  .addCommand(dataImageCommand())
  .addCommand(historyCommand())
  .addCommand(pauseCommand())
  .addCommand(resumeCommand())
  .addCommand(cancelCommand())
  .addCommand(rollbackCommand())
  .addCommand(validateCommand())
  .addCommand(renderCommand())
  .addCommand(explainCommand())
  .addCommand(diffCommand())
  .addCommand(bootstrapCommand())
  .addCommand(ignitionCommand())
  .addHelpText(
    'after',
    `
Examples:
  slipway start                                   run a whole control plane on this machine, to try things out
  slipway install --kubeconfig prod.kubeconfig    install CRDs and policies in a cluster
  slipway controller --kubeconfig prod.kubeconfig run the controllers against it
  slipway plan -f 50-chrony.yaml                  show what applying it would do to every machine
  slipway status --watch                          follow every pool and node, and what each waits for
  slipway streams migrate infra rhel-10 --dry-run show what another OS would mean for a pool
  slipway bootimages                              show which image new machines boot, and why
  slipway pin release IMAGE --pool worker         pull the images of an upgrade onto every worker in advance
  slipway dataimage attach HOST URL --reboot      attach an ISO to a bare-metal host
  slipway validate -f fleet/                      check manifests, without a cluster
  slipway render -f fleet/ --pool worker          render a pool’s config from manifests, without a cluster

Every error ends with a code in brackets. docs/errors.md explains each code and what to do.`,
  );

await runProgram(program);
