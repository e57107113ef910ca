"""How a broker comes into its cluster and leaves it.

log_dir_loading.py      before all else its logs are opened
registration.py         then the cluster knows it
first_orders.py         it is ready once the controller has told its replicas what to do
log_dir_notice.py       what it loses on the way
controlled_shutdown.py  its leaderships move away before it goes
"""
