import type { Command } from 'commander';

/** How bare-metal hosts are reached; without a URL they are left alone. */
export interface IronicFlags {
  ironicUrl?: string | undefined;
  ironicCa?: string | undefined;
  ironicAuth?: string | undefined;
  dataImagesBesideOperator?: boolean | undefined;
}

export const withIronicOptions = (command: Command): Command =>
  command
    .option('--ironic-url <URL>', 'manage bare-metal hosts and their DataImages through the Ironic at this address')
    .option('--ironic-ca <FILE>', 'certificate authorities of Ironic, in PEM, beside those of the system')
    .option('--ironic-auth <FILE>', 'credentials for Ironic: one line, USERNAME:PASSWORD')
    .option(
      '--data-images-beside-operator',
      'only DataImages: another operator registers and powers the hosts, and does not handle DataImages itself',
    );
