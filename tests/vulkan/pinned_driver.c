/*
 * pinned_driver.c: a driver that is lavapipe and stays in the process, for runs under sanitizers: a leak
 * report names the library only while it is loaded, and lavapipe leaks a little per open.
 *
 * There is nothing here: the library links libvulkan_lvp.so and is marked not to be unloaded.
 */
typedef int vyre_pinned_driver;
