/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The ttmem authors */
#ifndef TTMEM_INJECT_PATCH_DEVICE_MANAGER_H
#define TTMEM_INJECT_PATCH_DEVICE_MANAGER_H

/* The runtime's DeviceManager; NULL if there is none yet, or if this release does not tell.
 *
 * It is a member of the runtime's context, at a place that differs between releases. So the runtime
 * is asked for a device, and for that one question the function that the question is passed on to
 * is replaced by one that only looks at whom it was asked of. */
const void* ttmem_find_device_manager(void);

#endif /* TTMEM_INJECT_PATCH_DEVICE_MANAGER_H */
