/** Where people expect an API server. */
export const usualPort = 6443;
