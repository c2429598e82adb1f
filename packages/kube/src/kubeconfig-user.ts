import {
  belongTogether,
  bothCredentials,
  certificateFileCredentials,
  fixedCredentials,
  tokenFileCredentials,
} from './credentials.ts';
import type { Credentials } from './credentials.ts';
import { execCredentials } from './exec-credentials.ts';
import {
  beside,
  invalid,
  listAt,
  objectAt,
  optionalString,
  pemField,
  stringAt,
  stringField,
  wrong,
} from './kubeconfig-entry.ts';
import type { Entry } from './kubeconfig-entry.ts';

/** How a `user` of a kubeconfig logs in. */
export function credentialsOf(user: Entry): Credentials {
  for (const [field, why] of Object.entries(refusedFields)) {
    if (user.value[field] !== undefined) throw invalid(user.file, `${user.at}.${field}: ${why}`);
  }
  const token = tokenOf(user);
  const certificate = certificateOf(user);
  if (token !== undefined && certificate !== undefined) return bothCredentials(token, certificate);
  return token ?? certificate ?? fixedCredentials({}, `no credentials in ${user.file} (anonymous)`);
}

const goneWay = 'Kubernetes no longer knows this way to log in. Use a token, a client certificate or exec';
/** To leave these out silently would be to act as somebody else than the user asked for. */
const impersonation = 'acting as somebody else is not supported. Use a kubeconfig with that identity’s own credentials';
const refusedFields: Readonly<Record<string, string>> = {
  'auth-provider': goneWay,
  username: goneWay,
  password: goneWay,
  as: impersonation,
  'as-uid': impersonation,
  'as-groups': impersonation,
  'as-user-extra': impersonation,
};

function tokenOf(user: Entry): Credentials | undefined {
  const tokenFile = optionalString(user, 'tokenFile');
  if (tokenFile !== undefined) return tokenFileCredentials(beside(user.file, tokenFile));
  const token = optionalString(user, 'token');
  if (token !== undefined) return fixedCredentials({ token }, `token in ${user.file}`);
  return user.value['exec'] === undefined || user.value['exec'] === null ? undefined : execOf(user);
}

function certificateOf(user: Entry): Credentials | undefined {
  const certData = optionalString(user, 'client-certificate-data');
  const keyData = optionalString(user, 'client-key-data');
  if (certData !== undefined && keyData !== undefined) {
    const certificate = {
      cert: pemField(user, 'client-certificate-data', certData),
      key: pemField(user, 'client-key-data', keyData),
    };
    if (!belongTogether(certificate)) {
      throw wrong(user, 'client-key-data', 'the private key of client-certificate-data', 'another one or none');
    }
    return fixedCredentials({ certificate }, `client certificate in ${user.file}`);
  }
  const cert = optionalString(user, 'client-certificate');
  const key = optionalString(user, 'client-key');
  if (cert !== undefined && key !== undefined) {
    return certificateFileCredentials(beside(user.file, cert), beside(user.file, key));
  }
  if ([certData, keyData, cert, key].some((part) => part !== undefined)) {
    throw invalid(user.file, `${user.at}: expected both a client certificate and its key, in the same form; found one`);
  }
  return undefined;
}

function execOf(user: Entry): Credentials {
  const value = objectAt(user.file, `${user.at}.exec`, user.value['exec']);
  const exec: Entry = { file: user.file, at: `${user.at}.exec`, value };
  if (value['interactiveMode'] === 'Always') {
    throw invalid(user.file, `${exec.at}.interactiveMode: Always cannot be used here: nobody is there to answer`);
  }
  const command = stringField(exec, 'command');
  return execCredentials({
    apiVersion: optionalString(exec, 'apiVersion') ?? 'client.authentication.k8s.io/v1',
    command: command.includes('/') ? beside(user.file, command) : command,
    args: listAt(exec, 'args').map((arg, index) => stringAt(exec, `args[${index}]`, arg)),
    env: Object.fromEntries(listAt(exec, 'env').map((item, index) => envOf(exec, item, index))),
    installHint: optionalString(exec, 'installHint'),
  });
}

function envOf(exec: Entry, item: unknown, index: number): [string, string] {
  const at = `${exec.at}.env[${index}]`;
  const variable: Entry = { file: exec.file, at, value: objectAt(exec.file, at, item) };
  return [stringField(variable, 'name'), optionalString(variable, 'value') ?? ''];
}
