// Stubs from installers of different ages, and how users customise them.

const pem = {
  /** Of the installer: OU=openshift, CN=root-ca. */
  installer: `-----BEGIN CERTIFICATE-----
MIIBpDCCAUmgAwIBAgIUfFvExsyYI1kbrqJZlFErJ3f6cX4wCgYIKoZIzj0EAwIw
JjESMBAGA1UECwwJb3BlbnNoaWZ0MRAwDgYDVQQDDAdyb290LWNhMCAXDTI2MTEx
NjExNDIzNVoYDzIxMjYxMDIzMTE0MjM1WjAmMRIwEAYDVQQLDAlvcGVuc2hpZnQx
EDAOBgNVBAMMB3Jvb3QtY2EwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAQI5Ycs
iesl4JdRWsm0fRLa8lRyDjx6zK2TU0U8EjSsjG7iPT4PsWN2+tCKeyfGECss4Wvz
QrnIXlcR73ZKJfpco1MwUTAdBgNVHQ4EFgQUZEkOhqwIyi2OQpVW2lgvwOwePZkw
HwYDVR0jBBgwFoAUZEkOhqwIyi2OQpVW2lgvwOwePZkwDwYDVR0TAQH/BAUwAwEB
/zAKBggqhkjOPQQDAgNJADBGAiEArKmjFFuuCMHduVBy7v8FM31QkI4r5iFAEkoW
lkXQmGICIQDPGnEtULLtVMn2jWeiMX00qKTd9Va6MwYoKkm4XYwJow==
-----END CERTIFICATE-----
`,
  /** Ours: CN=machine-config-server-ca 0123456789abcdef. */
  ours: `-----BEGIN CERTIFICATE-----
MIIBvzCCAWWgAwIBAgIUQPNNOX2GXQ3tYlFxRsx0lxR2G/0wCgYIKoZIzj0EAwIw
NDEyMDAGA1UEAwwpbWFjaGluZS1jb25maWctc2VydmVyLWNhIDAxMjM0NTY3ODlh
YmNkZWYwIBcNMjYxMTE2MTE0MjM1WhgPMjEyNjEwMjMxMTQyMzVaMDQxMjAwBgNV
BAMMKW1hY2hpbmUtY29uZmlnLXNlcnZlci1jYSAwMTIzNDU2Nzg5YWJjZGVmMFkw
EwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEKLr+bMuC8ghoqczZFwTuXGNIXhEi3gqL
3kRnvq9MkVzwZB8w05pVtGadfJ7Ny8rW0lKZXSz6hlEw5peJYVLdxaNTMFEwHQYD
VR0OBBYEFBgZcI1g44ATURj1PYrt+kQlHtjYMB8GA1UdIwQYMBaAFBgZcI1g44AT
URj1PYrt+kQlHtjYMA8GA1UdEwEB/wQFMAMBAf8wCgYIKoZIzj0EAwIDSAAwRQIg
R7qj6Pahph1EPQexa7T+NK8q/Hmcm5mOfyb0x45pE6ECIQCnXW71eVCR5el0aTJn
8z54OmNWQa0dFkJQtn1Num/LPQ==
-----END CERTIFICATE-----
`,
  /** A user's: O=Example, CN=example root. */
  example: `-----BEGIN CERTIFICATE-----
MIIBqTCCAU+gAwIBAgIUTCmX0bfa8gCIr8GnzQlO40VndpcwCgYIKoZIzj0EAwIw
KTEQMA4GA1UECgwHRXhhbXBsZTEVMBMGA1UEAwwMZXhhbXBsZSByb290MCAXDTI2
MTExNjExNDIzNloYDzIxMjYxMDIzMTE0MjM2WjApMRAwDgYDVQQKDAdFeGFtcGxl
MRUwEwYDVQQDDAxleGFtcGxlIHJvb3QwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNC
AAQh5tXAxsrYotB3ocBD9SuHWdnz0lDFxfVAu/RKLbsT8B+p9RuZRyKDmmgW9ExE
cWSMcwoHt0BtL0eTYHEBunbao1MwUTAdBgNVHQ4EFgQU2e8fRu+4lPOHj6gLBN/k
f4dUahUwHwYDVR0jBBgwFoAU2e8fRu+4lPOHj6gLBN/kf4dUahUwDwYDVR0TAQH/
BAUwAwEB/zAKBggqhkjOPQQDAgNIADBFAiAXCxxRoHq9OdZ/gEH/3VAkZI6xG2zW
Yu1/AEx+VpLNMwIhAKx3OG6uLSYDBuF8ysREyqOuKE5Tlnfs6o/L1hy/39jJ
-----END CERTIFICATE-----
`,
};

const inBase64 = (text: string): string =>
  `data:text/plain;charset=utf-8;base64,${Buffer.from(text).toString('base64')}`;

export const authorities = {
  installer: inBase64(pem.installer),
  ours: inBase64(pem.ours),
  example: inBase64(pem.example),
  /** Two in one bundle, one of them a user's. */
  mixed: inBase64(pem.installer + pem.example),
} as const;

export const TOKEN = 'c2VjcmV0LXRva2VuLW9mLW5vdw';
export const OLD_TOKEN = 'c2VjcmV0LXRva2VuLW9mLW9sZA';

const SERVER = 'https://api-int.demo.example.com:22623';

/** What the installer of 4.1 to 4.5 left: spec 2.2 with every section, all but one empty. */
export const installer22 = (role = 'worker') => ({
  ignition: {
    config: { append: [{ source: `${SERVER}/config/${role}`, verification: {} }] },
    security: { tls: { certificateAuthorities: [{ source: authorities.installer, verification: {} }] } },
    timeouts: {},
    version: '2.2.0',
  },
  networkd: {},
  passwd: {},
  storage: {},
  systemd: {},
});

/** From 4.6 on: spec 3.1, and 3.2 since 4.8. */
export const installer3 = (version = '3.2.0', role = 'worker', host = SERVER) => ({
  ignition: {
    config: { merge: [{ source: `${host}/config/${role}` }] },
    security: { tls: { certificateAuthorities: [{ source: authorities.installer }] } },
    version,
  },
});

/** The managed stub, as stubOf creates it. */
export const managedStub = (role = 'worker', host = SERVER, bearer: string | null = TOKEN) => ({
  ignition: {
    version: '3.1.0',
    config: {
      merge: [
        {
          source: `${host}/config/${role}?compression=gzip`,
          compression: 'gzip',
          ...(bearer === null ? {} : { httpHeaders: [{ name: 'Authorization', value: `Bearer ${bearer}` }] }),
        },
      ],
    },
    security: { tls: { certificateAuthorities: [{ source: authorities.ours }] } },
  },
});

/** What users add: a user, a file, a unit. */
export const additions = {
  passwd: { users: [{ name: 'core', passwordHash: '$6$salt$verysecret', sshAuthorizedKeys: ['ssh-ed25519 AAAA me'] }] },
  storage: { files: [{ path: '/etc/motd', mode: 420, overwrite: true, contents: { source: 'data:,hello' } }] },
  systemd: {
    units: [
      {
        name: 'hello.service',
        enabled: true,
        contents: '[Service]\nExecStart=/bin/true\n[Install]\nWantedBy=multi-user.target\n',
      },
    ],
  },
};
