export interface NginxConfiguration {
  directory: string;
  port: number;
  workers: number;
  /** Only if root starts nginx. */
  user: string | undefined;
}

/** Tuned for static files; everything it writes stays in the directory. */
export function configure({ directory, port, workers, user }: NginxConfiguration): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `  ${kind}_temp_path ${directory}/temporary/${kind};`,
  );
  return [
    ...(user === undefined ? [] : [`user ${user};`]),
    'daemon off;',
    `worker_processes ${workers};`,
    'worker_rlimit_nofile 8192;',
    `pid ${directory}/nginx.pid;`,
    `lock_file ${directory}/nginx.lock;`,
    'error_log stderr warn;',
    'events { worker_connections 4096; }',
    'http {',
    '  access_log off;',
    '  sendfile on;',
    '  tcp_nopush on;',
    '  default_type application/json;',
    ...temporary,
    '  server {',
    `    listen 127.0.0.1:${port} ssl backlog=4096;`,
    `    ssl_certificate ${directory}/tls.crt;`,
    `    ssl_certificate_key ${directory}/tls.key;`,
    '    ssl_protocols TLSv1.2 TLSv1.3;',
    `    root ${directory}/root;`,
    '  }',
    '}',
    '',
  ].join('\n');
}
