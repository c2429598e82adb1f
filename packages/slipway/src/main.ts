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
import { whyCommand } from './why/command.ts';

const program = new Command('slipway')
  .description(
    'Slipway configures fleets of Kubernetes machines: what every machine’s operating system must look like, from its first boot on, one safe step at a time.',
  )
  .version(version, '-V, --version')
  .helpCommand('help [command]', 'more about a command')
  // An option belongs to the command that it stands behind: `streams` and its subcommands have some of the same name.
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
  .addCommand(renderCommand())
  .addCommand(explainCommand())
  .addCommand(diffCommand())
  .addCommand(bootstrapCommand())
  .addCommand(ignitionCommand())
  .addHelpText(
    'after',
    `
Examples:
  slipway start                                   a whole control plane on this machine, to try things
  slipway install --kubeconfig prod.kubeconfig    CRDs and policies into a cluster
  slipway controller --kubeconfig prod.kubeconfig the controllers against it
  slipway plan -f 50-chrony.yaml                  what applying it would do to every machine
  slipway status --watch                          how far every pool and node is, and what it waits for
  slipway streams migrate infra rhel-10 --dry-run what another OS for a pool means
  slipway bootimages                              which image new machines boot, and why
  slipway pin release IMAGE --pool worker         the images of an upgrade onto every worker, before it
  slipway dataimage attach HOST URL --reboot      an ISO into the drive of a bare-metal host
  slipway render -f fleet/ --pool worker          a pool’s configuration from manifests, without a cluster

Every error ends with a code in brackets; docs/errors.md says what to do about each.`,
  );

await runProgram(program);
