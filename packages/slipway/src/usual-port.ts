/** Where people expect an API server. */
export const usualPort = 6443;

/** Where machines expect a machine config server. */
export const usualServerPort = 22_623;
