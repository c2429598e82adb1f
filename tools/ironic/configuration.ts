export interface IronicConfiguration {
  directory: string;
  port: number;
  /** Where the BMC fetches the images that Ironic publishes. */
  publishedUrl: string;
  auth: 'none' | 'basic';
  tls: boolean;
}

/** The files and folders of an Ironic, all in its directory. */
export const placesIn = (directory: string) => ({
  configuration: `${directory}/ironic.conf`,
  passwords: `${directory}/htpasswd`,
  identity: `${directory}/server.pem`,
  published: `${directory}/published`,
  database: `${directory}/ironic.sqlite`,
});

/** One process that does everything, for Redfish BMCs, with a database in a file. */
export function configure({ directory, port, publishedUrl, auth, tls }: IronicConfiguration): string {
  const at = placesIn(directory);
  return sections({
    DEFAULT: {
      auth_strategy: auth === 'basic' ? 'http_basic' : 'noauth',
      ...(auth === 'basic' ? { http_basic_auth_user_file: at.passwords } : {}),
      rpc_transport: 'none',
      host: 'localhost',
      my_ip: '127.0.0.1',
      state_path: directory,
      tempdir: directory,
      enabled_hardware_types: 'redfish',
      enabled_boot_interfaces: 'redfish-virtual-media',
      enabled_deploy_interfaces: 'direct',
      enabled_management_interfaces: 'redfish',
      enabled_power_interfaces: 'redfish',
      enabled_network_interfaces: 'noop',
      // The default requires ipmitool.
      enabled_vendor_interfaces: 'no-vendor',
    },
    api: {
      host_ip: '127.0.0.1',
      port: String(port),
      ...(tls ? { enable_ssl_api: 'true', use_ssl: 'true', cert_file: at.identity, key_file: at.identity } : {}),
    },
    conductor: {
      graceful_shutdown_timeout: '2',
      automated_clean: 'false',
      // A BMC that ignores commands is detected within a test's time.
      power_state_change_timeout: '30',
    },
    database: { connection: `sqlite:///${at.database}`, sqlite_synchronous: 'false' },
    // No ISO cache: Ironic cleans it up while another download creates and removes a directory there, and the attach
    // fails ("No such file or directory"). Slipway would retry; tests that count calls would fail.
    deploy: { http_url: publishedUrl, http_root: at.published, iso_master_path: '' },
    oslo_concurrency: { lock_path: directory },
    // A BMC that is down is detected within a test's time, too.
    redfish: {
      connection_attempts: '1',
      connection_retry_interval: '1',
      connect_timeout: '5',
      read_timeout: '15',
      post_boot_retry_attempts: '1',
      post_boot_retry_delay: '1',
    },
    sensor_data: { send_sensor_data: 'false' },
  });
}

const sections = (all: Readonly<Record<string, Readonly<Record<string, string>>>>): string =>
  Object.entries(all)
    .map(([name, settings]) => {
      const lines = Object.entries(settings).map(([key, value]) => `${key} = ${value}`);
      return [`[${name}]`, ...lines, ''].join('\n');
    })
    .join('\n');
