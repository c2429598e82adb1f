export const configGroup = 'config.openshift.io';
